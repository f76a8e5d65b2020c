package paired

import (
	"math/rand/v2"
	"testing"
	"time"
)

// noisy returns a block whose time is base with heavy-tailed noise and a drift that both sides share.
func noisy(r *rand.Rand, drift *float64, base float64) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		*drift *= 1 + 0.01*r.NormFloat64()
		x := base * *drift * (1 + 0.05*r.NormFloat64())
		if r.IntN(20) == 0 {
			x *= 1 + 3*r.Float64()
		}
		return time.Duration(x), nil
	}
}

func TestTellsTwoPerCentApart(t *testing.T) {
	const runs = 50
	told, wrong := 0, 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 1))
		drift := 1.0
		s, err := Measure(200, noisy(r, &drift, 1e6), noisy(r, &drift, 1.02e6))
		if err != nil {
			t.Fatal(err)
		}
		res := s.Result()
		if res.Low > 1 {
			told++
		}
		if res.High < 1 || res.Low > 1.05 {
			wrong++
		}
	}
	if told < runs*7/10 || wrong > 0 {
		t.Errorf("a difference of 2 %% was told in %d of %d runs, wrongly in %d", told, runs, wrong)
	}
}

func TestEqualIsEqual(t *testing.T) {
	const runs = 100
	wrong := 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 2))
		drift := 1.0
		s, err := Measure(100, noisy(r, &drift, 1e6), noisy(r, &drift, 1e6))
		if err != nil {
			t.Fatal(err)
		}
		if res := s.Result(); res.Low > 1 || res.High < 1 {
			wrong++
		}
	}
	if wrong > runs/10 {
		t.Errorf("a difference was seen in %d of %d runs where there is none", wrong, runs)
	}
}
