package admin

import "strconv"

// Route is the status of a route.
type Route struct {
	Name  string `json:"name"` // routes[0], as in messages about the configuration
	Taken int64  `json:"messages" metric:"messages_total" help:"Messages that came in and took the route, those included that were refused then. A route that a reload has left as it was goes on, also in another place; others begin at 0."`
}

// maxRoutes is how many routes have metrics: the first of the configuration. /status has all.
const maxRoutes = 1000

// routes returns the status of the routes in their order.
func (v *view) routes() []Route {
	counts := v.gateway.Table.Taken()
	rows := make([]Route, len(counts))
	for i, n := range counts {
		rows[i] = Route{"routes[" + strconv.Itoa(i) + "]", n}
	}
	return rows
}
