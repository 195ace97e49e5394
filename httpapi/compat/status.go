package compat

import (
	"net/netip"
	"strings"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols/httpsms/kannel"
)

// showStatus answers a request for Kannel's status, if the request has the status password.
func (h *handler) showStatus(isXML bool) {
	password := h.x.Connector.Config().HTTP.StatusPassword
	if password == "" {
		h.x.AnswerAsk(kannel.Unknown())
		return
	}
	if !h.dialects.rooms.Logins.AskSecret(
		h.x.Request.Context(), h.x.Connector, h.x.Conn.Remote, kannel.StatusPassword(h.x.Request.URL.RawQuery), password,
	) {
		h.x.AnswerAsk(kannel.StatusDenied(isXML))
		return
	}
	h.x.Conn.LoggedIn()
	h.x.AnswerAsk(kannel.StatusAnswer(h.dialects.status.read(), isXML))
}

// A Status makes the data of Kannel's status.
type Status struct {
	rooms     Rooms
	began     int64
	addresses func(*connector.Connector) []netip.AddrPort
	reached   func(*connector.Connector) int64 // returns since when an HTTP connector's SMSC is reachable; 0: it is not
}

// NewStatus returns a Status of a gateway.
func NewStatus(
	rooms Rooms, addresses func(*connector.Connector) []netip.AddrPort, reached func(*connector.Connector) int64,
) *Status {
	return &Status{rooms: rooms, began: rooms.Node.Clock.Now(), addresses: addresses, reached: reached}
}

// read returns the figures of the gateway in Kannel's terms: connectors to SMSCs are its smscs, HTTP listeners its boxes.
// Messages and receipts for clients are in one queue.
func (v *Status) read() *kannel.Status {
	rooms, now := &v.rooms, v.rooms.Node.Clock.Now()
	s := &kannel.Status{
		Version: kannel.Version, State: "running", Uptime: time.Duration(now - v.began),
		Stored: -1, ReportsWaited: -1, // expected receipts are on disk, and are not counted
	}
	switch {
	case rooms.Node.Draining():
		s.State = "going down"
	case rooms.Node.Memory.Full():
		s.State = "filled"
	}
	if rooms.Store.Durable() {
		s.Stored = int(rooms.Backlog.Pending())
	}
	for _, l := range rooms.Lanes.Lanes() {
		if l.ToClient() {
			s.Received.Queued += int(l.Queued.Load())
		}
	}
	for _, c := range rooms.Lanes.Connectors() {
		switch cfg := c.Config(); {
		case cfg.Direction == config.Out:
			one := v.smsc(now, c)
			s.Received.Total += one.Received.Total
			s.Sent.Total += one.Sent.Total
			s.ReportsReceived.Total += one.ReportsReceived.Total
			s.Sent.Queued += one.Queued
			if !c.Removed.Load() {
				s.SMSCs = append(s.SMSCs, *one)
			}
		case cfg.Transport() != config.BySession && !c.Removed.Load():
			s.Boxes = append(s.Boxes, kannel.Box{ID: c.Name, IP: v.ipOf(c), Uptime: s.Uptime, TLS: c.TLS() != nil})
		}
	}
	return s
}

// ipOf returns an address on which a connector listens.
func (v *Status) ipOf(c *connector.Connector) string {
	for _, a := range v.addresses(c) {
		return a.Addr().String()
	}
	return ""
}

// smsc returns the state of a connector to an SMSC.
func (v *Status) smsc(now int64, c *connector.Connector) *kannel.SMSC {
	cfg := c.Config()
	s := &kannel.SMSC{
		Name:    strings.ToUpper(cfg.Protocol) + ":" + strings.Join(cfg.AllAddresses(), ",") + ":" + cfg.SystemID,
		AdminID: c.Name, ID: c.Name,
		Failed: int(c.Stats.Failed.Load()), Queued: int(c.Stats.Queued.Load()),
	}
	s.State, s.Online = v.stateOf(now, c)
	s.Received.Total, s.Sent.Total = int(c.Stats.Messages()), int(c.Stats.Sent.Load())
	for _, n := range c.Stats.Receipts.Counts() {
		s.ReportsReceived.Total += int(n)
	}
	return s
}

// stateOf returns Kannel's name for the state of a connector, or, if the connector is online, for how long.
func (v *Status) stateOf(now int64, c *connector.Connector) (state string, online time.Duration) {
	var since int64
	c.Links(func(l *connector.Link) {
		if l.Session.Bound() != 0 && (since == 0 || l.Opened < since) {
			since = l.Opened
		}
	})
	if reached := v.reached(c); reached != 0 {
		since = reached
	}
	switch {
	case c.Hold() != nil:
		return "disconnected", 0
	case c.Online() > 0 && since > 0:
		return "", time.Duration(now - since)
	case c.Stats.Failing.Load() > 0:
		return "re-connecting", 0
	case !c.Config().IsStatic():
		return "disconnected", 0 // the connector connects when it has a message
	}
	return "connecting", 0
}
