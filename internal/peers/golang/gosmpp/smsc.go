package main

import (
	"net"
	"pmgpeers/wire"
	"strconv"
	"sync"

	"github.com/linxGnu/gosmpp"
	"github.com/linxGnu/gosmpp/data"
	"github.com/linxGnu/gosmpp/pdu"
)

// An smscPeer serves one session at a time.
type smscPeer struct {
	mu      sync.Mutex
	latest  *gosmpp.Connection
	keys    int
	waiting map[string]request // by key
	sent    map[int32]int      // requests by sequence number
}

type request struct {
	conn *gosmpp.Connection
	pdu  pdu.PDU
}

// smsc serves the requests for an SMSC.
func smsc(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	c := &smscPeer{waiting: map[string]request{}, sent: map[int32]int{}}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(gosmpp.NewConnection(conn))
		}
	}()
	wire.Emit(wire.Event{Event: "listening"})
	wire.Serve(c.do)
}

func (c *smscPeer) serve(conn *gosmpp.Connection) {
	defer conn.Close()
	for {
		p, err := pdu.Parse(conn)
		if err != nil {
			return
		}
		c.take(conn, p)
	}
}

func (c *smscPeer) take(conn *gosmpp.Connection, p pdu.PDU) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !p.CanResponse() {
		wire.Emit(wire.Event{Event: "done", N: c.sent[p.GetSequenceNumber()], Status: int(p.GetHeader().CommandStatus)})
		return
	}
	e := wire.Event{Event: "submit"}
	switch p := p.(type) {
	case *pdu.BindRequest:
		c.latest = conn
		conn.WritePDU(p.GetResponse())
		wire.Emit(wire.Event{Event: "bound", Name: p.SystemID, Password: p.Password})
		return
	case *pdu.EnquireLink:
		conn.WritePDU(p.GetResponse())
		return
	case *pdu.Unbind:
		conn.WritePDU(p.GetResponse())
		wire.Emit(wire.Event{Event: "unbind"})
		return
	case *pdu.SubmitSM:
		e.Command, e.Message = "submit_sm", seen(p.SourceAddr, p.DestAddr, p.EsmClass, p.Message, p.OptionalParameters)
	case *pdu.DataSM:
		e.Command, e.Message = "data_sm", seen(p.SourceAddr, p.DestAddr, p.EsmClass, pdu.ShortMessage{}, p.OptionalParameters)
	case *pdu.QuerySM:
		e.Command, e.ID = "query_sm", p.MessageID
	case *pdu.CancelSM:
		e.Command, e.ID = "cancel_sm", p.MessageID
	}
	c.keys++
	e.Key = strconv.Itoa(c.keys)
	c.waiting[e.Key] = request{conn, p}
	wire.Emit(e)
}

func (c *smscPeer) do(q wire.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch q.Do {
	case "answer":
		r := c.waiting[q.Key]
		delete(c.waiting, q.Key)
		answer := r.pdu.GetResponse()
		switch a := answer.(type) {
		case *pdu.SubmitSMResp:
			a.CommandStatus, a.MessageID = data.CommandStatusType(q.Status), q.ID
		case *pdu.DataSMResp:
			a.CommandStatus, a.MessageID = data.CommandStatusType(q.Status), q.ID
		case *pdu.QuerySMResp:
			a.CommandStatus, a.MessageID, a.MessageState = data.CommandStatusType(q.Status), q.ID, byte(q.State)
		}
		_, err := r.conn.WritePDU(answer)
		return err
	case "deliver":
		s, err := content(q.Message)
		if err != nil {
			return err
		}
		p := pdu.NewDeliverSM().(*pdu.DeliverSM)
		p.SourceAddr, p.DestAddr, p.EsmClass, p.Message = address(q.From), address(q.To), byte(q.Class), s
		return c.send(q.N, p)
	case "enquire":
		return c.send(q.N, pdu.NewEnquireLink())
	case "close":
		return c.latest.Close()
	}
	return nil
}

func (c *smscPeer) send(n int, p pdu.PDU) error {
	c.sent[p.GetSequenceNumber()] = n
	_, err := c.latest.WritePDU(p)
	return err
}
