package kvtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/kv"
)

// testAtomic: readers never see a part of a batch. Each batch sets all keys to one value.
func testAtomic(t *testing.T, e kv.Engine) {
	const keysN, rounds = 20, 100
	write := func(v int) error {
		b := e.NewBatch()
		for k := range keysN {
			if err := b.Set(fmt.Appendf(nil, "%02d", k), fmt.Appendf(nil, "%d", v)); err != nil {
				return err
			}
		}
		return errors.Join(e.Apply(b, false), b.Close())
	}
	must(t, write(0))
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for w := range 2 {
		wg.Go(func() {
			for i := range rounds {
				if err := write(w*rounds + i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for range rounds {
				s, err := e.Snapshot()
				if err != nil {
					errs <- err
					return
				}
				it, err := s.Iter(kv.IterOptions{})
				if err != nil {
					errs <- err
					return
				}
				var first []byte
				n := 0
				for ok := it.First(); ok; ok = it.Next() {
					if first == nil {
						first = bytes.Clone(it.Value())
					}
					if !bytes.Equal(first, it.Value()) {
						err = fmt.Errorf("half a batch is visible: %s and %s", first, it.Value())
					}
					n++
				}
				if n != keysN {
					err = fmt.Errorf("%d keys", n)
				}
				if err = errors.Join(err, it.Err(), it.Close(), s.Close()); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

// model is an engine's expected content.
type model map[string]string

func (m model) dump(lo, hi []byte, reverse bool) string {
	var ks []string
	for k := range m {
		if (lo == nil || k >= string(lo)) && (hi == nil || k < string(hi)) {
			ks = append(ks, k)
		}
	}
	slices.Sort(ks)
	if reverse {
		slices.Reverse(ks)
	}
	var s []byte
	for _, k := range ks {
		s = fmt.Appendf(s, "%s=%s ", k, m[k])
	}
	return string(bytes.TrimSpace(s))
}

// testModel drives the engine with random operations beside a map. The seed is logged.
func testModel(t *testing.T, e kv.Engine) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	key := func() []byte {
		k := make([]byte, r.IntN(3))
		for i := range k {
			k[i] = "abcd\x00\xff"[r.IntN(6)]
		}
		return k
	}
	bounds := func() (lo, hi []byte) {
		if r.IntN(3) > 0 {
			lo = key()
		}
		if r.IntN(3) > 0 {
			hi = key()
		}
		if lo != nil && hi != nil && bytes.Compare(lo, hi) > 0 {
			lo, hi = hi, lo
		}
		return lo, hi
	}
	type snap struct {
		s kv.Snapshot
		m model
	}
	m := model{}
	var snaps []snap
	for step := range 1500 {
		switch op := r.IntN(10); {
		case op < 4:
			next := model{}
			for k, v := range m {
				next[k] = v
			}
			b := e.NewIndexedBatch()
			for range r.IntN(8) {
				switch r.IntN(5) {
				case 0:
					k := key()
					must(t, b.Delete(k))
					delete(next, string(k))
				case 1:
					lo, hi := key(), key()
					if bytes.Compare(lo, hi) > 0 {
						lo, hi = hi, lo
					}
					must(t, b.DeleteRange(lo, hi))
					for k := range next {
						if k >= string(lo) && k < string(hi) {
							delete(next, k)
						}
					}
				default:
					k, v := key(), fmt.Sprint(step)
					if len(k) == 0 {
						continue
					}
					must(t, b.Set(k, []byte(v)))
					next[string(k)] = v
				}
			}
			lo, hi := bounds()
			want(t, dump(t, b, kv.IterOptions{Lower: lo, Upper: hi}, step%2 == 0), next.dump(lo, hi, step%2 == 0))
			if r.IntN(5) > 0 {
				must(t, e.Apply(b, r.IntN(4) == 0))
				m = next
			}
			must(t, b.Close())
		case op < 7:
			lo, hi := bounds()
			want(t, dump(t, e, kv.IterOptions{Lower: lo, Upper: hi}, step%2 == 0), m.dump(lo, hi, step%2 == 0))
		case op == 7 && len(snaps) < 5:
			s, err := e.Snapshot()
			must(t, err)
			c := model{}
			for k, v := range m {
				c[k] = v
			}
			snaps = append(snaps, snap{s, c})
		case op == 8 && len(snaps) > 0:
			i := r.IntN(len(snaps))
			lo, hi := bounds()
			want(t, dump(t, snaps[i].s, kv.IterOptions{Lower: lo, Upper: hi}, false), snaps[i].m.dump(lo, hi, false))
			if r.IntN(3) == 0 {
				must(t, snaps[i].s.Close())
				snaps = slices.Delete(snaps, i, i+1)
			}
		default:
			k := key()
			v, err := e.Get(k)
			exp, ok := m[string(k)]
			if ok != (err == nil) || string(v) != exp {
				t.Fatalf("step %d: get %q: %q, %v; want %q, %v", step, k, v, err, exp, ok)
			}
			walk(t, r, e, m, key)
		}
	}
	for _, s := range snaps {
		must(t, s.s.Close())
	}
}

// walk moves an iterator about at random and compares each position with the sorted keys.
func walk(t *testing.T, r *rand.Rand, e kv.Engine, m model, key func() []byte) {
	t.Helper()
	var ks []string
	for k := range m {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	it, err := e.Iter(kv.IterOptions{})
	must(t, err)
	it.First()
	at := 0 // -1 … len(ks)
	for range 12 {
		switch r.IntN(4) {
		case 0:
			it.Next()
			at = min(at+1, len(ks))
		case 1:
			it.Prev()
			at = max(at-1, -1)
		case 2:
			k := key()
			it.SeekGE(k)
			at, _ = slices.BinarySearch(ks, string(k))
		case 3:
			k := key()
			it.SeekLT(k)
			at, _ = slices.BinarySearch(ks, string(k))
			at--
		}
		valid := at >= 0 && at < len(ks)
		if it.Valid() != valid || (valid && (string(it.Key()) != ks[at] || string(it.Value()) != m[ks[at]])) {
			t.Fatalf("iterator at %q (%v), want position %d of %q", it.Key(), it.Valid(), at, ks)
		}
	}
	must(t, it.Err())
	must(t, it.Close())
}
