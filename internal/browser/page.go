package browser

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
)

//go:embed static
var staticFiles embed.FS

// Policy allows a page to load files only from its server. Only scripts in these files may run.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Protect sets headers that restrict a page's content, and that forbid caching.
func Protect(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	// without a referrer browsers send no origin either, and forms would be refused
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// Static serves the files that the pages of a site load. Embedded files have no time. Without a tag of the
// content, browsers would load the files again with each page.
func (s *Site) Static() http.Handler {
	files, err := fs.Sub(staticFiles, "static")
	if err != nil {
		panic(err) // the directory is embedded
	}
	serve := http.FileServerFS(files)
	return http.StripPrefix(s.Base+"static/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := fs.ReadFile(files, r.URL.Path)
		if err != nil { // the path is unknown, or names a directory, which is not listed
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(b)))
		w.Header().Set("Cache-Control", "no-cache") // browsers must ask whether the tag has changed
		serve.ServeHTTP(w, r)
	}))
}
