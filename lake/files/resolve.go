package files

import "strings"

// Place is a path as a row of the catalog has it.
type Place struct {
	Path     string
	Relative bool
}

// Resolve joins a file's path with those of its table, its schema and the lake, from the
// inside out, until one is absolute. Folders end with a slash in the catalog, except where
// somebody wrote them without.
func Resolve(dataPath string, schema, table, file Place) string {
	path := file.Path
	for _, p := range []struct {
		relative bool
		within   string
	}{
		{file.Relative, table.Path},
		{table.Relative, schema.Path},
		{schema.Relative, dataPath},
	} {
		if !p.relative {
			return path
		}
		path = join(p.within, path)
	}
	return path
}

func join(folder, path string) string {
	if folder == "" || strings.HasSuffix(folder, "/") || strings.HasSuffix(folder, `\`) {
		return folder + path
	}
	return folder + "/" + path
}
