package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/server"
)

// requestTrap stands between a server and its object storage, and kills the server before a request that changes something has come there, or
// before its answer has come back: steps 1 and 2 are those of the first request.
type requestTrap struct {
	s     *server.Server
	proxy *httputil.ReverseProxy

	mu   sync.Mutex
	n    int // 0: the server lives
	seen int
	said string
}

func newRequestTrap(t *testing.T, endpoint string) (*requestTrap, string) {
	t.Helper()
	at, err := url.Parse("http://" + endpoint)
	if err != nil {
		t.Fatal(err)
	}
	// The header Host stays what it is: it is signed.
	r := &requestTrap{proxy: &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(at); p.Out.Host = p.In.Host }}}
	front := httptest.NewServer(r)
	t.Cleanup(front.Close)
	return r, front.URL
}

// reached says whether the next step is the one before which the server ends.
func (r *requestTrap) reached(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen++
	if r.n == 0 || r.seen != r.n {
		return false
	}
	r.said = what
	return true
}

func (r *requestTrap) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		r.proxy.ServeHTTP(w, req)
		return
	}
	if r.reached("request " + req.Method) {
		r.s.Kill()
		panic(http.ErrAbortHandler)
	}
	answer := httptest.NewRecorder()
	// What has been asked is done, also when the server ends meanwhile.
	r.proxy.ServeHTTP(answer, req.WithContext(context.WithoutCancel(req.Context())))
	if r.reached(fmt.Sprintf("answer %d to %s", answer.Code, req.Method)) {
		r.s.Kill()
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the server may have ended
}

func (r *requestTrap) arm(_ context.Context, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n, r.seen, r.said = n, 0, ""
	return nil
}

func (r *requestTrap) disarm() (string, error) { return r.fired(), nil }

func (r *requestTrap) fired() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n = 0
	return r.said
}

// TestKillAtEveryRequestOfDeletion is TestKillAtEveryStepOfDeletion for a lake in a bucket: the server is killed before each of its requests to the
// object storage that changes something, and before each answer.
func TestKillAtEveryRequestOfDeletion(t *testing.T) {
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	if testing.Short() {
		t.Skip("many kills are long; they run without -short")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	endpoint := objectStorage(ctx, t)
	makeBucket(ctx, t, newDuck(ctx, t), endpoint, "kill")
	for i, tc := range cleanupCases() {
		t.Run(tc.name, func(t *testing.T) {
			trap, front := newRequestTrap(t, endpoint)
			k := &killLake{data: fmt.Sprintf("s3://kill/lake%d", i), trap: trap, setup: speakS3(ctx, t, endpoint)}
			access := []string{"--s3-endpoint", "http://" + endpoint, "--s3-path-style", "--s3-access-key", s3Key, "--s3-secret-file", s3SecretFile(t)}
			k.fsck = append([]string{"--files"}, access...)
			k.list = func(ctx context.Context, t *testing.T) map[string]int64 {
				t.Helper()
				out := map[string]int64{}
				for _, r := range mustDuck(ctx, t, k.d, "SELECT filename, size FROM read_blob('"+k.data+"/**')").Rows {
					n, err := strconv.ParseInt(r[1], 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					out[k.rel(r[0])] = n
				}
				return out
			}
			access[1] = front // what DuckDB and fsck ask is not counted
			k.start(ctx, t, eiderBinary(t), append(access, "--delete-paths", k.data)...)
			trap.s = k.s
			k.sweep(ctx, t, tc)
		})
	}
}
