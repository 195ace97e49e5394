// Fiorix drives github.com/fiorix/go-smpp as a client, and its package smpptest as an SMSC:
// fiorix client|smsc HOST:PORT.
//
// # Start reading
//
// client and smsc.
package main

import (
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"pmgpeers/wire"
	"strconv"
	"sync"
	"time"

	"github.com/fiorix/go-smpp/smpp"
	"github.com/fiorix/go-smpp/smpp/pdu"
	"github.com/fiorix/go-smpp/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutext"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutlv"
	"github.com/fiorix/go-smpp/smpp/smpptest"
)

func main() {
	// It takes a request for an answer if the sequence number is that of a request of its own. Its
	// numbers come from one counter, which is moved away from the gateway's here.
	for range 1_000_000 {
		pdu.NewEnquireLink()
	}
	if os.Args[1] == "client" {
		client(os.Args[2])
		return
	}
	smsc(os.Args[2])
}

const patience = 10 * time.Second

// text returns a text for the library.
func text(m wire.Message) pdutext.Codec {
	switch octets, _ := hex.DecodeString(m.UDH + m.Octets); {
	case len(octets) > 0:
		return coded{pdutext.Raw(octets), pdutext.DataCoding(m.Coding)}
	case m.Coding == 8:
		return pdutext.UCS2(m.Text)
	default:
		return coded{pdutext.GSM7(m.Text), pdutext.DataCoding(m.Coding)}
	}
}

// coded is a text with another data_coding than its codec's.
type coded struct {
	pdutext.Codec
	coding pdutext.DataCoding
}

func (c coded) Type() pdutext.DataCoding { return c.coding }

// seen returns what the library has made of a message.
func seen(p pdu.Body) wire.Message {
	f := p.Fields()
	m := wire.Message{From: f[pdufield.SourceAddr].String(), To: f[pdufield.DestinationAddr].String()}
	m.Coding, _ = strconv.Atoi(f[pdufield.DataCoding].String())
	m.Class, _ = strconv.Atoi(f[pdufield.ESMClass].String())
	octets := f[pdufield.ShortMessage].Bytes()
	if payload := p.TLVFields()[pdutlv.TagMessagePayload]; payload != nil && len(octets) == 0 {
		octets = payload.Bytes()
	}
	m.Octets = hex.EncodeToString(octets)
	if header := m.Class & 0x40; header != 0 && len(octets) > int(octets[0]) {
		octets = octets[octets[0]+1:]
	}
	if m.Coding == 8 {
		m.Text = string(pdutext.UCS2(octets).Decode())
	} else {
		m.Text = string(pdutext.GSM7(octets).Decode())
	}
	return m
}

type bound interface {
	Bind() <-chan smpp.ConnStatus
	Close() error
}

// client serves the requests for a client.
func client(address string) {
	var session bound
	var sender *smpp.Transmitter
	received := func(p pdu.Body) {
		if p.Header().ID == pdu.DeliverSMID {
			wire.Emit(wire.Event{Event: "deliver", Command: "deliver_sm", Message: seen(p)})
		}
	}
	wire.Serve(func(q wire.Request) error {
		switch q.Do {
		case "bind":
			switch q.Kind {
			case "transmitter":
				sender = &smpp.Transmitter{
					Addr: address, User: q.Name, Passwd: q.Password, RespTimeout: patience, BindInterval: time.Hour,
				}
				session = sender
			case "receiver":
				session = &smpp.Receiver{
					Addr: address, User: q.Name, Passwd: q.Password, Handler: received, BindInterval: time.Hour,
				}
			default:
				both := &smpp.Transceiver{
					Addr: address, User: q.Name, Passwd: q.Password, RespTimeout: patience, BindInterval: time.Hour,
					Handler: received,
				}
				sender, session = &both.Transmitter, both
			}
			s := <-session.Bind()
			e := wire.Event{Event: "done", N: q.N}
			if s.Status() != smpp.Connected {
				e.Status, e.Error = 13, s.Error().Error()
			}
			wire.Emit(e)
		case "unbind":
			wire.Done(q.N, session.Close())
		case "query":
			r, err := sender.QuerySM(q.From, q.ID, 0, 0)
			if err != nil {
				return err
			}
			wire.Emit(
				wire.Event{Event: "done", N: q.N, ID: r.MsgID, State: map[string]int{"ENROUTE": 1, "DELIVERED": 2}[r.MsgState]},
			)
		case "submit", "multi":
			go submit(sender, q)
		default:
			return errors.New("the library has none")
		}
		return nil
	})
}

// submit sends a message, and reports its answer.
func submit(sender *smpp.Transmitter, q wire.Request) {
	m := &smpp.ShortMessage{
		Src: q.From, Dst: q.To, DstList: q.Many, Text: text(q.Message), Register: pdufield.DeliverySetting(q.Registered),
		ESMClass: uint8(q.Class), TLVFields: pdutlv.Fields{},
	}
	if q.Validity != "" {
		m.Validity = 24 * time.Hour
	}
	for tag, value := range q.TLVs {
		t, _ := strconv.ParseUint(tag, 16, 16)
		octets, _ := hex.DecodeString(value)
		m.TLVFields[pdutlv.Tag(t)] = octets
	}
	if q.Payload {
		m.TLVFields[pdutlv.TagMessagePayload], m.Text = []byte(q.Text), pdutext.Raw("")
	}
	var err error
	if q.Parts {
		m.Text = pdutext.GSM7(q.Text)
		_, err = sender.SubmitLongMsg(m)
	} else {
		_, err = sender.Submit(m)
	}
	e := wire.Event{Event: "done", N: q.N, ID: m.RespID()}
	var status pdu.Status
	if errors.As(err, &status) {
		e.Status = int(status)
	} else if err != nil {
		e.Error = err.Error()
	}
	wire.Emit(e)
}

// An smscPeer serves one session at a time.
type smscPeer struct {
	server  *smpptest.Server
	mu      sync.Mutex
	latest  smpptest.Conn
	keys    int
	waiting map[string]request // by key
	sent    map[uint32]int     // requests by sequence number
}

type request struct {
	conn smpptest.Conn
	pdu  pdu.Body
}

// smsc serves the requests for an SMSC.
func smsc(address string) {
	s := smpptest.NewUnstartedServer()
	c := &smscPeer{server: s, waiting: map[string]request{}, sent: map[uint32]int{}}
	s.User, s.Passwd, s.Handler = "pmg", "secret", c.take
	s.Start()
	relay(address, s.Addr())
	wire.Emit(wire.Event{Event: "listening"})
	wire.Serve(c.do)
}

// relay has the server, which chooses its port, be at an address.
func relay(address, server string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", server)
			if err != nil {
				panic(err)
			}
			go func() { io.Copy(out, in); out.Close() }()
			go func() {
				answer := make([]byte, 1024) // answer to the bind; the server sends nothing else
				if n, err := out.Read(answer); err == nil && n > 11 && answer[11] == 0 {
					in.Write(answer[:n])
					wire.Emit(wire.Event{Event: "bound", Name: "pmg", Password: "secret"})
				}
				io.Copy(in, out)
				in.Close()
			}()
		}
	}()
}

func (c *smscPeer) take(conn smpptest.Conn, p pdu.Body) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = conn
	switch id := p.Header().ID; id {
	case pdu.EnquireLinkID:
		conn.Write(pdu.NewEnquireLinkRespSeq(p.Header().Seq))
	case pdu.UnbindID:
		answer := pdu.NewUnbindResp()
		answer.Header().Seq = p.Header().Seq
		conn.Write(answer)
		wire.Emit(wire.Event{Event: "unbind"})
	case pdu.SubmitSMID, pdu.QuerySMID:
		c.keys++
		key := strconv.Itoa(c.keys)
		c.waiting[key] = request{conn, p}
		e := wire.Event{Event: "submit", Command: "submit_sm", Key: key}
		if id == pdu.QuerySMID {
			e.Command, e.ID = "query_sm", p.Fields()[pdufield.MessageID].String()
		} else {
			e.Message = seen(p)
		}
		wire.Emit(e)
	default:
		wire.Emit(wire.Event{Event: "done", N: c.sent[p.Header().Seq], Status: int(p.Header().Status)})
	}
}

func (c *smscPeer) do(q wire.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch q.Do {
	case "answer":
		r := c.waiting[q.Key]
		delete(c.waiting, q.Key)
		answer := pdu.NewSubmitSMResp()
		if r.pdu.Header().ID == pdu.QuerySMID {
			answer = pdu.NewQuerySMResp()
			answer.Fields().Set(pdufield.MessageState, uint8(q.State))
		}
		answer.Header().Seq, answer.Header().Status = r.pdu.Header().Seq, pdu.Status(q.Status)
		answer.Fields().Set(pdufield.MessageID, q.ID)
		return r.conn.Write(answer)
	case "deliver":
		p := pdu.NewSubmitSM(nil) // NewDeliverSM writes an octet too much before the text
		p.Header().ID = pdu.DeliverSMID
		t := text(q.Message)
		p.Fields().Set(pdufield.SourceAddr, q.From)
		p.Fields().Set(pdufield.DestinationAddr, q.To)
		p.Fields().Set(pdufield.ESMClass, uint8(q.Class))
		p.Fields().Set(pdufield.DataCoding, uint8(t.Type()))
		p.Fields().Set(pdufield.ShortMessage, t)
		c.sent[p.Header().Seq] = q.N
		c.server.BroadcastMessage(p)
	case "enquire":
		p := pdu.NewEnquireLink()
		c.sent[p.Header().Seq] = q.N
		c.server.BroadcastMessage(p)
	case "close":
		return c.latest.Close()
	}
	return nil
}
