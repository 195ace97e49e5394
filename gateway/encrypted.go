package gateway

import (
	"fmt"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/internal/tlsfiles"
)

// filesOf reads the TLS files of a connector. It returns nil if the connector's sessions are not
// encrypted.
func (g *Gateway) filesOf(cc *config.Connector) (*tlsfiles.Files, error) {
	if !cc.TLS.Enabled {
		return nil, nil
	}
	f, err := tlsfiles.Open(cc.TLS.Options(cc.Listens()), cc.Listens())
	if err != nil {
		return nil, fmt.Errorf("connector %s: tls.%w", cc.Name, err)
	}
	if cc.TLS.Insecure && !cc.Listens() && len(cc.TLS.Pin) == 0 {
		g.Node.Log.Warn().Str("connector", cc.Name).Msg(
			"tls.insecure: any certificate is taken, so whoever is in between can read and change messages",
		)
	}
	return f, nil
}

// renewed reads the TLS files of the connectors that a new configuration keeps.
func (g *Gateway) renewed(cfg *config.Config) (map[*connector.Connector]*tlsfiles.Files, error) {
	all := map[*connector.Connector]*tlsfiles.Files{}
	for i := range cfg.Connectors {
		c := g.Table.Connector(cfg.Connectors[i].Name)
		if c == nil {
			continue
		}
		var err error
		if all[c], err = g.filesOf(&cfg.Connectors[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// lookAtFiles takes over certificates and keys that have changed, once a minute. It warns once a
// day of certificates that expire soon.
func (g *Gateway) lookAtFiles(now int64) {
	due := g.upkeep.check.Load()
	if now < due || !g.upkeep.check.CompareAndSwap(due, now+int64(time.Minute)) {
		return
	}
	warns := now >= g.upkeep.warning.Load()
	if warns {
		g.upkeep.warning.Store(now + int64(24*time.Hour))
	}
	for _, c := range g.Table.Connectors() {
		f := c.TLS()
		if f == nil || c.Removed.Load() {
			continue
		}
		changed, err := f.Look()
		switch {
		case err != nil:
			g.Node.Log.Error().Str("connector", c.Name).Err(err).Msg(
				"cannot take over changed files of tls; those that were read before stay in force",
			)
		case changed:
			g.Node.Log.Info().Str("connector", c.Name).Time("expires", f.Expires()).Msg(
				"changed files of tls are in force for new sessions",
			)
		}
		if warns || changed {
			g.warnOfExpiry(c.Name, f.Expires())
		}
	}
}

func (g *Gateway) warnOfExpiry(connector string, expires time.Time) {
	if what := tlsfiles.Expiry(expires); what != "" {
		g.Node.Log.Warn().Str("connector", connector).Time("expires", expires).Msg("the certificate of tls " + what)
	}
}
