package server

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Metrics are the values of /metrics at one time, by the series as it is written there:
// name{label="value",…}.
type Metrics map[string]float64

// Sum adds up the series of a metric that have all of some labels, each given as
// label="value".
func (m Metrics) Sum(name string, labels ...string) (sum float64) {
series:
	for s, v := range m {
		rest, ok := strings.CutPrefix(s, name)
		if !ok || rest != "" && rest[0] != '{' {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(rest, "{"+l) && !strings.Contains(rest, ","+l) {
				continue series
			}
		}
		sum += v
	}
	return sum
}

// Metrics reads /metrics.
func (s *Server) Metrics(ctx context.Context) (Metrics, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", s.http), nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	m := Metrics{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics: %q: %w", line, err)
		}
		m[line[:at]] = v
	}
	return m, lines.Err()
}

// Metric returns the sum of a metric over its labels, or over those of its series that have
// all of the given ones (`kind="retry"`); 0 if there are none yet.
func (s *Server) Metric(ctx context.Context, name string, labels ...string) (float64, error) {
	m, err := s.Metrics(ctx)
	return m.Sum(name, labels...), err
}
