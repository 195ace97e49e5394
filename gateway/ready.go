package gateway

import (
	"fmt"
	"strings"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
)

// NotReady returns the reasons why the gateway is not ready for traffic, each as a line.
// The gateway is ready while
//
//   - it is not stopping,
//   - clients can log in: each in connector listens, and there are descriptors for more clients,
//   - each route has a target that works,
//   - the store takes messages: it has not failed, answers, and has room,
//   - clients are read: limits.memory and limits.max_jobs are not reached.
//
// A connector to an SMSC works while it has a session that can be given messages or,
// if it connects on demand, until a connection fails. A target that leads to clients
// always works, because they come when the gateway is ready.
func (g *Gateway) NotReady(e Engine) (missing []string) {
	if g.Draining() {
		return []string{"stopping"}
	}
	cfg := g.Config()
	for _, c := range g.Connectors() {
		if !c.Removed.Load() && c.Config().Listens() && len(e.Addresses(c)) == 0 {
			missing = append(missing, "connector "+c.Name+" does not listen")
		}
	}
	if limit := g.clientSockets.Load(); limit > 0 && g.sockets.Load() >= limit {
		missing = append(missing, fmt.Sprintf("no more clients are accepted: %d are connected, and the file descriptors that are left are for the gateway's own connections", limit))
	}
	for i := range cfg.Routes {
		if why := g.dead(&cfg.Routes[i]); why != "" {
			missing = append(missing, fmt.Sprintf("routes[%d] has no target that works: %s", i, why))
		}
	}
	if why := g.storeTrouble(); why != "" {
		missing = append(missing, why)
	}
	if g.Memory.Full() {
		missing = append(missing, fmt.Sprintf("no message is accepted: messages take %d MiB, half of limits.memory", g.Memory.Used()>>20))
	}
	if jobs, most := e.Counters().Jobs, int64(cfg.Limits.MaxJobs); jobs > most {
		missing = append(missing, fmt.Sprintf("no client is read: %d jobs are alive, more than limits.max_jobs", jobs))
	}
	return missing
}

// dead returns why none of a route's targets works, or "" if one does.
func (g *Gateway) dead(r *config.Route) string {
	var why []string
	for _, to := range r.To {
		c := g.Connector(to.Connector)
		if to.Account != "" || c == nil || c.Config().Role() == protocols.Server || g.LaneOf(c).Up() {
			return "" // c is nil where a reload has just removed it
		}
		why = append(why, Why(c))
	}
	return strings.Join(why, "; ")
}

// Why returns why a connector to an SMSC has no session.
func Why(c *connector.Connector) string {
	if t := c.Trouble(); t != nil {
		return fmt.Sprintf("connector %s: %s", c.Name, t.Reason)
	}
	return fmt.Sprintf("connector %s has no session yet", c.Name)
}
