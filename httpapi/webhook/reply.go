package webhook

import (
	"crypto/sha256"
	"net/http"

	"pmg/connector"
	"pmg/gateway/request"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/kannel"
	"pmg/sms"
)

// A reply is a server's reply to a message from a mobile.
type reply struct {
	mediaType string
	body      []byte
}

// answers sends a server's reply to its message m to the mobile, once, even if the server is called repeatedly.
func (c *courier) answers(m *sms.Message, e *httpsms.Event, r *reply) {
	order := kannel.Reply(e, &kannel.InboundOptions{OmitEmpty: true}, http.StatusOK, r.mediaType, r.body)
	rooms := &c.service.rooms
	a := rooms.Logins.Accounts().Account(c.lane.Account)
	if order == nil || a == nil {
		return
	}
	from := &connector.Source{Connector: c.lane.Home(), Account: a, Origin: rooms.Node.Origins.Of(a.SystemID, c.lane.Home().Name)}
	id := EventID(m)
	result := rooms.Submitter.Submit(
		c.service.group, from, []request.Item{{Fill: order.Fill, Key: "reply to " + id, Payload: sha256.Sum256([]byte(id))}},
	)[0]
	if result.Code != sms.OK && rooms.Node.Repeats.First("reply: "+a.SystemID) {
		rooms.Node.Log.Warn().Str("account", a.SystemID).Str("id", sms.FormatID(m.ID)).Stringer("reason", result.Code).
			Str("step", result.Step).
			Msg("the reply of a client's server to a message from a mobile was not sent")
	}
}
