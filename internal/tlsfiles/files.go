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

// Files is the configuration of one side of TLS, as its files were when they were read last. It is safe for
// concurrent use, but for Look.
type Files struct {
	options Options
	server  bool
	seen    []string // hashes of the files when they were read
	current atomic.Pointer[loaded]
}

// loaded is what was made of the files.
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

// Config returns the configuration. A client's has the name of the server that it connects to, unless the options
// have one.
func (f *Files) Config(host string) *tls.Config {
	c := f.current.Load().config
	if f.server || c.ServerName != "" {
		return c
	}
	c = c.Clone()
	c.ServerName = host
	return c
}

// Expires returns when the first of the side's own certificates expires, the zero time if it has none.
func (f *Files) Expires() time.Time { return f.current.Load().expires }

// Look reads the files again if they have changed, and reports whether it has. With an error what was
// read before stays in force, and the next Look after another change reads again.
func (f *Files) Look() (changed bool, err error) {
	sums := f.options.sums()
	if slices.Equal(sums, f.seen) {
		return false, nil
	}
	f.seen = sums
	return true, f.read()
}

// lookEvery is how often a server looks whether its files have changed.
const lookEvery = time.Minute

// Following returns the configuration of a server that takes over files which have changed. It looks at them when somebody
// connects, once a minute. failed is called if they cannot be read; what was read before stays in force.
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

// sums returns the sums of the files, by which a change is seen. Times and sizes do not always.
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

// warnBefore is how long before a certificate expires operators are warned.
const warnBefore = 21 * 24 * time.Hour

// Expiry returns the warning about a certificate that expires at a time, to follow "the certificate of tls"; empty if
// there is none. The zero time is never.
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
