package conflict

import "github.com/eiderdb/eider/lake"

// Files answers what a decision about delete files has to know, as the commit sees it.
type Files struct {
	// DataFile returns a data file by its id.
	DataFile func(id int64) (lake.DataFile, bool, error)
	// DeletesOf returns all delete files of a data file, those of the commit included.
	DeletesOf func(dataFile int64) ([]lake.DeleteFile, error)
}

// MisplacedFlushes returns those of the delete files that a commit adds which must not be
// added, because some snapshot would read the rows of their data file twice.
//
// DuckLake's flush turns inlined deletes of a data file into a delete file that is dated
// back to the first of them and whose partial_max is the last. When the data file has
// ended meanwhile (it was rewritten) and had a delete file of its own, the flush does not
// read that one: the two validities overlap, every scan of a snapshot in between joins
// the data file with both and returns its rows once for each. The inlined deletes say the
// same and are read right beside a delete file, so they are what has to stay.
func MisplacedFlushes(added []lake.DeleteFile, f Files) ([]lake.DeleteFile, error) {
	var out []lake.DeleteFile
	for _, d := range added {
		if !d.HasPartialMax || d.Begin > d.PartialMax {
			continue
		}
		data, ok, err := f.DataFile(d.DataFileID)
		if err != nil {
			return nil, err
		}
		if !ok || !data.Ended {
			continue
		}
		others, err := f.DeletesOf(d.DataFileID)
		if err != nil {
			return nil, err
		}
		for _, o := range others {
			if o.ID != d.ID && o.Overlaps(readable(d.Span, data.Span)) {
				out = append(out, d)
				break
			}
		}
	}
	return out, nil
}

// readable is the part of a delete file's validity in which its data file can be read.
func readable(d, data lake.Span) lake.Span {
	if data.Ended && (!d.Ended || data.End < d.End) {
		d.End, d.Ended = data.End, true
	}
	return d
}
