package tlsfiles

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Files is the configuration of one side of TLS, from the latest reading of its files. It is safe for concurrent use, except
// Look.
type Files struct {
	options Options
	server  bool
	seen    []string // hashes of the files at the latest reading
	current atomic.Pointer[loaded]
}

// loaded is the result of a reading.
type loaded struct {
	config  *tls.Config
	expires time.Time
}

// Open reads the files. The error is an *OptionError.
func Open(o Options, server bool) (*Files, error) {
	f := &Files{options: o, server: server, seen: o.sums()}
	return f, f.read()
}

func (f *Files) read() error {
	config, expires, err := Load(&f.options, f.server)
	if err == nil {
		f.current.Store(&loaded{config, expires})
	}
	return err
}

// Config returns the configuration. For a client it has host as the name of the server, unless the options have a name.
func (f *Files) Config(host string) *tls.Config {
	c := f.current.Load().config
	if f.server || c.ServerName != "" {
		return c
	}
	c = c.Clone()
	c.ServerName = host
	return c
}

// Expires returns the time when the first of the side's own certificates expires, or the zero time if it has none.
func (f *Files) Expires() time.Time { return f.current.Load().expires }

// Look reads the files again if they have changed, and reports whether they have. After an error the earlier configuration
// stays in force, and Look reads again after another change.
func (f *Files) Look() (changed bool, err error) {
	sums := f.options.sums()
	if slices.Equal(sums, f.seen) {
		return false, nil
	}
	f.seen = sums
	return true, f.read()
}

// lookEvery is the interval of a server's checks for changed files.
const lookEvery = time.Minute

// Following returns the configuration of a server that reloads changed files. It checks them when a client connects, at most
// once a minute. failed is called if they cannot be read; then the earlier ones stay in force.
func (f *Files) Following(failed func(error)) *tls.Config {
	var mu sync.Mutex
	looked := time.Now()
	return &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(looked) > lookEvery {
			looked = time.Now()
			if _, err := f.Look(); err != nil {
				failed(err)
			}
		}
		return f.Config(""), nil
	}}
}

// sums returns hashes of the files, because times and sizes do not show every change.
func (o *Options) sums() (all []string) {
	for _, name := range slices.Concat(o.Certificates, o.Keys, []string{o.Authorities}) {
		if name == "" {
			continue
		}
		b, err := os.ReadFile(name)
		sum := sha256.Sum256(b)
		all = append(all, fmt.Sprintf("%x %v", sum, err))
	}
	return all
}

// warnBefore is the time before the expiry of a certificate at which warnings begin.
const warnBefore = 21 * 24 * time.Hour

// Expiry returns a warning about a certificate that expires at a time, to follow "the certificate of tls", or "" if none is
// needed. The zero time means never.
func Expiry(expires time.Time) string {
	left := time.Until(expires)
	switch {
	case expires.IsZero() || left > warnBefore:
		return ""
	case left <= 0:
		return "has expired: peers refuse it"
	}
	return fmt.Sprintf("expires in %d days", int(left.Hours()/24))
}
