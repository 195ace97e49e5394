package httpapi

import (
	"context"

	"pmg/gateway"
	"pmg/httpapi/compat"
	"pmg/httpapi/httpsmsc"
	"pmg/httpapi/portal"
	"pmg/httpapi/server"
	v1 "pmg/httpapi/v1"
	"pmg/httpapi/webhook"
)

// forServer returns the parts of a gateway that listeners use.
func forServer(g *gateway.Gateway) server.Rooms {
	return server.Rooms{Node: g.Node, Admission: g.Sessions, Logins: g.Logins, Tracer: g.Settler}
}

// forWebhooks returns the parts of a gateway that webhooks use.
func forWebhooks(g *gateway.Gateway, o Options) webhook.Rooms {
	return webhook.Rooms{
		Node: g.Node, Options: g.Table, Logins: g.Logins, Converter: g.Convert, Tracer: g.Settler, Submitter: g.Requests,
		Servers: g.Webhooks, Inbox: g.Inbox, Low: g.Settler.Low, Mail: o.Mail, Holds: o.Holds,
	}
}

// forSMSCs returns the parts of a gateway that the HTTP clients of SMSCs use.
func forSMSCs(g *gateway.Gateway, holds func() bool) httpsmsc.Rooms {
	return httpsmsc.Rooms{
		Node: g.Node, Lanes: g.Table, Links: g.Sessions, Converter: g.Convert, Tracer: g.Settler, Receipts: g.Receipts,
		Deliverer: g.Requests, Holds: holds,
	}
}

// forOwnAPI returns the parts of a gateway that our own API uses.
func forOwnAPI(g *gateway.Gateway) v1.Rooms {
	return v1.Rooms{Node: g.Node, Routes: g.Table, Logins: g.Logins, Submitter: g.Requests, Operations: g.Operate}
}

// forDialects returns the parts of a gateway that the interfaces of other gateways use.
func forDialects(g *gateway.Gateway) compat.Rooms {
	return compat.Rooms{
		Node: g.Node, Logins: g.Logins, Submitter: g.Requests, Lanes: g.Table, Store: g.Keeper, Backlog: g,
	}
}

// forPortal returns the parts of a gateway, and of the API, that the pages for customers use.
func forPortal(g *gateway.Gateway, api *v1.API, goOn func(func(context.Context)), o Options) portal.Rooms {
	return portal.Rooms{
		Node: g.Node, Table: g.Table, Money: g.Intake.Credit, Webhooks: g.Webhooks, Dead: g.Settler.Dead, Queue: g.Operate,
		Messages: api, Inbox: g.Inbox, Lists: g.Lists, Networks: g.Intake.Networks, Go: goOn, Edit: o.Edit,
		Audit: o.Audit, Mail: o.Mail,
	}
}
