package storm

import (
	"slices"
	"sync"
	"time"
)

// Report is what a storm of writers did in a time.
type Report struct {
	Took      time.Duration
	Latencies []time.Duration // of acknowledged commits, sorted
	PerWriter []int           // acknowledged commits by writer
	Attempts  int             // batches sent; 0 where nobody counted
	Worst     int             // most attempts for one commit
	Failures  []error         // commits that were given up
}

// Commits is the number of acknowledged commits.
func (r *Report) Commits() int { return len(r.Latencies) }

// Rate is commits per second.
func (r *Report) Rate() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Commits()) / r.Took.Seconds()
}

// Mean is the mean latency; 0 without commits.
func (r *Report) Mean() time.Duration {
	if r.Commits() == 0 {
		return 0
	}
	var sum time.Duration
	for _, d := range r.Latencies {
		sum += d
	}
	return sum / time.Duration(r.Commits())
}

// Quantile returns a latency; 0 without commits.
func (r *Report) Quantile(q float64) time.Duration { return Quantile(r.Latencies, q) }

// Fairness is the slowest writer's share of the mean of all: 1 when all are equal.
func (r *Report) Fairness() float64 {
	if r.Commits() == 0 {
		return 0
	}
	mean := float64(r.Commits()) / float64(len(r.PerWriter))
	return float64(slices.Min(r.PerWriter)) / mean
}

// AttemptsPerCommit is 1 when no race was ever lost.
func (r *Report) AttemptsPerCommit() float64 {
	if r.Commits() == 0 {
		return 0
	}
	return float64(r.Attempts) / float64(r.Commits())
}

// Add joins the report of a later block of the same storm.
func (r *Report) Add(o *Report) {
	r.Took += o.Took
	r.Latencies = append(r.Latencies, o.Latencies...)
	slices.Sort(r.Latencies)
	if len(r.PerWriter) < len(o.PerWriter) {
		r.PerWriter = append(r.PerWriter, make([]int, len(o.PerWriter)-len(r.PerWriter))...)
	}
	for i, n := range o.PerWriter {
		r.PerWriter[i] += n
	}
	r.Attempts += o.Attempts
	r.Worst = max(r.Worst, o.Worst)
	r.Failures = append(r.Failures, o.Failures...)
}

// Quantile of sorted durations.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// Outcome is one commit of one writer.
type Outcome struct {
	Attempts int
	Err      error
}

// Run lets n writers commit until the time is over; each calls commit with its number and the number of its commit, beginning with 0.
// A writer that is in a commit when the time is over finishes it, and its commit counts. stop, if it is not nil, ends the storm early.
func Run(n int, d time.Duration, stop <-chan struct{}, commit func(w, i int) Outcome) *Report {
	r := &Report{PerWriter: make([]int, n)}
	var mu sync.Mutex
	var wg sync.WaitGroup
	begin := time.Now()
	for w := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; time.Since(begin) < d; i++ {
				select {
				case <-stop:
					return
				default:
				}
				start := time.Now()
				o := commit(w, i)
				took := time.Since(start)
				mu.Lock()
				r.Attempts += o.Attempts
				r.Worst = max(r.Worst, o.Attempts)
				if o.Err != nil {
					r.Failures = append(r.Failures, o.Err)
				} else {
					r.Latencies = append(r.Latencies, took)
					r.PerWriter[w]++
				}
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	r.Took = time.Since(begin)
	slices.Sort(r.Latencies)
	return r
}
