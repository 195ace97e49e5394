package admin

import (
	"crypto/tls"
	"net/http"
	"reflect"
	"sync"
	"time"

	"pmg/gateway"
	"pmg/internal/tlsfiles"
)

// A certificates is the TLS configuration of admin.tls. It is checked at each connection.
type certificates struct {
	gateway *gateway.Gateway

	mu      sync.Mutex
	options tlsfiles.Options
	files   *tlsfiles.Files
	looked  time.Time
	warned  time.Time
}

// newCertificates reads the files.
func newCertificates(g *gateway.Gateway, o tlsfiles.Options) (c *certificates, err error) {
	c = &certificates{gateway: g, options: o, looked: time.Now()}
	c.files, err = tlsfiles.Open(o, true)
	return c, err
}

// config returns the configuration in force. Once a minute it reads files that have changed, and it uses the
// options of a reload. After an error the earlier configuration stays in force.
func (c *certificates) config(*tls.ClientHelloInfo) (*tls.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.takeOver()
	return c.files.Config(""), nil
}

// whileTrusted serves the requests of connections whose certificates are still trusted, and closes the other connections.
func (c *certificates) whileTrusted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if t := r.TLS; t != nil && len(t.VerifiedChains) > 0 {
			if config, _ := c.config(nil); !time.Now().Before(tlsfiles.ValidUntil(config, t.PeerCertificates)) {
				w.Header().Set("Connection", "close")
				http.Error(
					w,
					"the certificate is no longer accepted: admin.tls.client_ca has another authority now, or it has expired",
					http.StatusUnauthorized,
				)
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}

// expires returns the time when the first certificate expires.
func (c *certificates) expires() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.takeOver()
	return c.files.Expires()
}

// takeOver reads changed files, and logs a warning once a day if a certificate expires soon.
func (c *certificates) takeOver() {
	var err error
	if o := c.gateway.Node.Config().Admin.TLS.Options(true); !reflect.DeepEqual(o, c.options) {
		var files *tlsfiles.Files
		if files, err = tlsfiles.Open(o, true); err == nil {
			c.files = files
		}
		c.options = o
	} else if time.Since(c.looked) > time.Minute {
		c.looked = time.Now()
		_, err = c.files.Look()
	}
	if err != nil {
		c.gateway.Node.Log.Error().Err(err).Msg(
			"cannot take over changed files of admin.tls; the earlier ones stay in force",
		)
	}
	if what := tlsfiles.Expiry(c.files.Expires()); what != "" && time.Since(c.warned) > 24*time.Hour {
		c.warned = time.Now()
		c.gateway.Node.Log.Warn().Time("expires", c.files.Expires()).Msg("the certificate of admin.tls " + what)
	}
}
