// Package paired compares two things measured in turns: short blocks of one and the other, close together in time, so that what disturbs the
// machine disturbs both. Each round gives one ratio; their median with its confidence interval tells differences of a few per cent apart from noise.
package paired

import (
	"math"
	"slices"
	"time"
)

// Sample holds the time of one block of each side, by round.
type Sample struct{ A, B []time.Duration }

// Result is what the rounds say. A and B are medians with quartiles, Ratio is the median of B/A by round with its 95 % confidence interval.
type Result struct {
	A, B      Spread
	Ratio     float64
	Low, High float64
}

// Spread is a median with its quartiles.
type Spread struct{ Q1, Median, Q3 time.Duration }

// Measure runs blocks of both sides in the order A B B A A B …, so that neither always comes first.
func Measure(rounds int, a, b func() (time.Duration, error)) (Sample, error) {
	var s Sample
	for i := range rounds {
		first, second := a, b
		if i%2 == 1 {
			first, second = b, a
		}
		x, err := first()
		if err != nil {
			return s, err
		}
		y, err := second()
		if err != nil {
			return s, err
		}
		if i%2 == 1 {
			x, y = y, x
		}
		s.A, s.B = append(s.A, x), append(s.B, y)
	}
	return s, nil
}

// Result evaluates a sample of at least one round.
func (s Sample) Result() Result {
	ratios := make([]float64, len(s.A))
	for i := range ratios {
		ratios[i] = float64(s.B[i]) / float64(s.A[i])
	}
	slices.Sort(ratios)
	r := Result{A: spread(s.A), B: spread(s.B), Ratio: middle(ratios)}
	lo, hi := medianInterval(len(ratios))
	r.Low, r.High = ratios[lo], ratios[hi]
	return r
}

// medianInterval returns the ranks of the order statistics of n values that hold the median with 95 % confidence, by the normal approximation of
// the binomial distribution.
func medianInterval(n int) (lo, hi int) {
	half := 1.96 * math.Sqrt(float64(n)) / 2
	lo = int(math.Floor(float64(n)/2-half)) - 1
	hi = int(math.Ceil(float64(n)/2 + half))
	return max(lo, 0), min(hi, n-1)
}

func middle(v []float64) float64 {
	if len(v)%2 == 0 {
		return (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	return v[len(v)/2]
}

func spread(d []time.Duration) Spread {
	d = slices.Clone(d)
	slices.Sort(d)
	return Spread{d[len(d)/4], d[len(d)/2], d[len(d)*3/4]}
}
