package webhook

import "pmg/gateway"

// roomsOf returns the rooms of a gateway.
func roomsOf(g *gateway.Gateway) Rooms {
	return Rooms{
		Node: g.Node, Options: g.Table, Logins: g.Logins, Converter: g.Convert, Tracer: g.Settler, Submitter: g.Requests,
		Servers: g.Webhooks, Low: g.Settler.Low,
	}
}
