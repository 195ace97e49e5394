package webhook

import (
	"crypto/sha256"
	"net/http"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/request"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/jasmin"
	"pmg/protocols/httpsms/kannel"
	"pmg/sms"
)

// A reply is what a server has replied to a message from a mobile.
type reply struct {
	mediaType string
	body      []byte
}

// hasOtherForm reports whether the webhook of an account, which may be gone, is called in the form of another gateway.
func hasOtherForm(a *config.Account) bool { return a != nil && a.WebhookForm != config.PMGForm }

// inForm returns the call of the URL of a webhook in the form of another gateway, and what will have its reply, nil if nobody wants
// that. It reports false where there is nothing to tell: reports go to the URLs that came with messages.
func inForm(a *config.Account, url string, e *httpsms.Event) (c *httpsms.Call, r *reply, told bool) {
	if e.Message == nil {
		return nil, nil, false
	}
	switch a.WebhookForm {
	case "jasmin-get":
		return jasmin.Inbound(e, url, http.MethodGet), nil, true
	case "jasmin-post":
		return jasmin.Inbound(e, url, http.MethodPost), nil, true
	}
	c = kannel.Inbound(e, &kannel.InboundOptions{Name: a.SystemID, URL: url, Post: a.WebhookForm == "kannel-post", SendSender: true})
	if a.WebhookReply {
		r = &reply{}
		c.Replied = func(mediaType string, body []byte) { r.mediaType, r.body = mediaType, body }
	}
	return c, r, true
}

// answers sends to a mobile what a server has replied to its message m, once, however often the server is called.
func (c *courier) answers(m *sms.Message, e *httpsms.Event, r *reply) {
	order := kannel.Reply(e, &kannel.InboundOptions{OmitEmpty: true}, http.StatusOK, r.mediaType, r.body)
	g := c.service.gateway
	a := g.Logins.Accounts().Account(c.lane.Account)
	if order == nil || a == nil {
		return
	}
	from := &connector.Source{Connector: c.lane.Home(), Account: a, Origin: g.Node.Origins.Of(a.SystemID, c.lane.Home().Name)}
	id := EventID(m)
	result := g.Requests.Submit(c.service.ctx, from, []request.Item{{Fill: order.Fill, Key: "reply to " + id, Payload: sha256.Sum256([]byte(id))}})[0]
	if result.Code != sms.OK && g.Node.News.Is("reply: "+a.SystemID) {
		g.Node.Log.Warn().Str("account", a.SystemID).Str("id", sms.FormatID(m.ID)).Stringer("reason", result.Code).Str("step", result.Step).
			Msg("what a client's server has replied to a message from a mobile was not sent")
	}
}
