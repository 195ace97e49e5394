package gateway

import (
	"fmt"
	"strings"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
)

// NotReady returns the reasons why the gateway is not ready for traffic, each as a line.
// The gateway is ready while
//
//   - it is not stopping,
//   - clients can log in: each in connector listens, and there are descriptors for more clients,
//   - a route to an SMSC has a target that works, if there is any such route,
//   - the store takes messages: it has not failed, answers, and has room,
//   - clients are read: limits.memory and limits.max_jobs are not reached.
//
// A connector to an SMSC works while messages can be sent on one of its sessions or, if it connects
// on demand, until a connection fails. A target that leads to clients always works, because they
// come when the gateway is ready.
func (g *Gateway) NotReady(e Engine) (missing []string) {
	if g.Node.Draining() {
		return g.NodeNotReady()
	}
	cfg := g.Node.Config()
	for _, c := range g.Table.Connectors() {
		if !c.Removed.Load() && c.Config().Listens() && len(e.Addresses(c)) == 0 {
			missing = append(missing, "connector "+c.Name+" does not listen")
		}
	}
	if limit, full := g.Sessions.Full(); full {
		missing = append(
			missing,
			fmt.Sprintf(
				"no more clients are accepted: %d are connected, and the file descriptors that are left are for the "+
					"gateway's own connections",
				limit,
			),
		)
	}
	if dead, routes := g.deadRoutes(); len(dead) > 0 && len(dead) == routes {
		missing = append(missing, dead...)
	}
	missing = append(missing, g.NodeNotReady()...)
	if g.Node.Memory.Full() {
		missing = append(
			missing,
			fmt.Sprintf("no message is accepted: messages take %d MiB, half of limits.memory", g.Node.Memory.Used()>>20),
		)
	}
	if jobs, most := e.Counters().Jobs, int64(cfg.Limits.MaxJobs); jobs > most {
		missing = append(missing, fmt.Sprintf("no client is read: %d jobs are alive, more than limits.max_jobs", jobs))
	}
	return missing
}

// NodeNotReady returns the reasons why this node should have no clients, each as a line: it is stopping, or its store takes no
// messages. A balancer that ends sessions asks for these alone, because a session elsewhere would not help against the others.
func (g *Gateway) NodeNotReady() []string {
	if g.Node.Draining() {
		return []string{"stopping"}
	}
	if why := g.Keeper.Trouble(); why != "" {
		return []string{why}
	}
	return nil
}

// Problems returns what an operator should check although the gateway is ready, each as a line. An
// SMSC that is down is reported here. The gateway stays ready, so that the other SMSCs keep their
// traffic.
func (g *Gateway) Problems() []string {
	all, routes := g.deadRoutes()
	if len(all) == routes { // NotReady reports this case
		all = nil
	}
	if why := g.upkeep.unread.Load(); why != nil {
		all = append(all, *why)
	}
	all = append(all, g.Webhooks.Problems()...)
	for _, p := range g.Hooks.Status() {
		if problem := p.Problem(time.Now()); problem != "" {
			all = append(all, problem)
		}
	}
	all = append(append(all, g.Lists.Problems()...), g.Intake.Networks.Problems()...)
	if s := g.Keeper.StoreStatus(); s.Failed == "" && s.Problem != "" {
		all = append(all, "the store has a problem: "+s.Problem)
	}
	return all
}

// Unreached returns the names of the connectors that connect to an SMSC and have had no session for a time.
func (g *Gateway) Unreached(longer time.Duration) (names []string) {
	for _, c := range g.Table.Connectors() {
		t := c.Trouble()
		if !c.Removed.Load() && c.Config().Dials() && t != nil && t.Down != 0 && time.Since(time.Unix(0, t.Down)) >= longer {
			names = append(names, c.Name)
		}
	}
	return names
}

// deadRoutes returns a line for each route none of whose targets works, and how many routes lead
// to SMSCs alone.
func (g *Gateway) deadRoutes() (dead []string, routes int) {
	cfg := g.Node.Config()
	for i := range cfg.Routes {
		r := &cfg.Routes[i]
		if !g.leadsToSMSCs(r) {
			continue
		}
		routes++
		if why := g.dead(r); why != "" {
			dead = append(dead, cfg.RouteName(i)+" has no target that works: "+why)
		}
	}
	return dead, routes
}

// leadsToSMSCs reports whether no target of a route is a client.
func (g *Gateway) leadsToSMSCs(r *config.Route) bool {
	for _, to := range r.To {
		if c := g.Table.Connector(to.Connector); to.IsClient() || c != nil && c.Config().Role() == protocols.Server {
			return false
		}
	}
	return true
}

// dead returns why none of a route's targets works, or "" if one does.
func (g *Gateway) dead(r *config.Route) string {
	var why []string
	for _, to := range r.To {
		c := g.Table.Connector(to.Connector)
		if c == nil || g.Table.LaneOf(c).Up() {
			return "" // c is nil if a reload has just removed the connector
		}
		why = append(why, Why(c))
	}
	return strings.Join(why, "; ")
}

// Why returns the reason why no message leaves by a connector to an SMSC.
func Why(c *connector.Connector) string {
	if c.Hold() != nil {
		return fmt.Sprintf("connector %s: an operator holds it", c.Name)
	}
	if t := c.Trouble(); t != nil {
		return fmt.Sprintf("connector %s: %s", c.Name, t.Reason)
	}
	return fmt.Sprintf("connector %s has no session yet", c.Name)
}
