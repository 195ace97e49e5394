// Package httpfault answers HTTP requests whose handler has panicked, so that a fault costs one request.
//
// Start reading with Handler.
package httpfault

import (
	"net/http"
	"runtime/debug"

	"github.com/rs/zerolog"
)

// Handler serves requests with h. A panic of h is logged, and answer writes the answer. If h has begun an
// answer, the connection is closed instead, so that nobody takes a partial answer for a complete one.
func Handler(h http.Handler, log zerolog.Logger, answer http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &writer{ResponseWriter: w}
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			if fault != http.ErrAbortHandler {
				log.Error().Str("method", r.Method).Str("path", r.URL.Path).Interface("panic", fault).
					Bytes("stack", debug.Stack()).Msg("a request failed")
			}
			if out.begun || fault == http.ErrAbortHandler {
				panic(http.ErrAbortHandler)
			}
			for _, name := range []string{"Content-Type", "Content-Length", "Etag", "Location"} {
				w.Header().Del(name)
			}
			answer(w, r)
		}()
		h.ServeHTTP(out, r)
	})
}

// A writer remembers whether an answer has begun.
type writer struct {
	http.ResponseWriter
	begun bool
}

func (w *writer) WriteHeader(code int) {
	w.begun = w.begun || code >= http.StatusOK
	w.ResponseWriter.WriteHeader(code)
}

func (w *writer) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// FlushError is for http.ResponseController.
func (w *writer) FlushError() error {
	w.begun = true
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Under returns the ResponseWriter that h would get without Handler. http.MaxBytesReader needs it to close the connection.
func Under(w http.ResponseWriter) http.ResponseWriter {
	if out, ok := w.(*writer); ok {
		return out.ResponseWriter
	}
	return w
}
