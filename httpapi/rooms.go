package httpapi

import (
	"pmg/gateway"
	"pmg/httpapi/compat"
	"pmg/httpapi/httpsmsc"
	"pmg/httpapi/portal"
	"pmg/httpapi/server"
	v1 "pmg/httpapi/v1"
	"pmg/httpapi/webhook"
)

// forServer returns what the listeners need of a gateway.
func forServer(g *gateway.Gateway) server.Rooms {
	return server.Rooms{Node: g.Node, Admission: g.Sessions, Logins: g.Logins, Tracer: g.Settler}
}

// forWebhooks returns what webhooks need of a gateway.
func forWebhooks(g *gateway.Gateway, holds func() bool) webhook.Rooms {
	return webhook.Rooms{
		Node: g.Node, Options: g.Table, Logins: g.Logins, Converter: g.Convert, Tracer: g.Settler, Submitter: g.Requests,
		Servers: g.Webhooks, Low: g.Settler.Low, Holds: holds,
	}
}

// forSMSCs returns what the HTTP clients of SMSCs need of a gateway.
func forSMSCs(g *gateway.Gateway, holds func() bool) httpsmsc.Rooms {
	return httpsmsc.Rooms{
		Node: g.Node, Lanes: g.Table, Links: g.Sessions, Converter: g.Convert, Tracer: g.Settler, Receipts: g.Receipts,
		Deliverer: g.Requests, Holds: holds,
	}
}

// forOwnAPI returns what our own API needs of a gateway.
func forOwnAPI(g *gateway.Gateway) v1.Rooms {
	return v1.Rooms{Node: g.Node, Routes: g.Table, Logins: g.Logins, Submitter: g.Requests, Operations: g.Operate}
}

// forDialects returns what the interfaces of other gateways need of this one.
func forDialects(g *gateway.Gateway) compat.Rooms {
	return compat.Rooms{
		Node: g.Node, Logins: g.Logins, Submitter: g.Requests, Lanes: g.Table, Store: g.Keeper, Backlog: g,
	}
}

// forPortal returns what the pages for customers need of a gateway, and of the API.
func forPortal(g *gateway.Gateway, api *v1.API, o Options) portal.Rooms {
	return portal.Rooms{
		Node: g.Node, Table: g.Table, Money: g.Intake.Credit, Webhooks: g.Webhooks, Messages: api, Edit: o.Edit, Audit: o.Audit,
	}
}
