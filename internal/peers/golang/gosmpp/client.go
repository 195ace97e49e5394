package main

import (
	"fmt"
	"os"
	"pmgpeers/wire"
	"sync"
	"time"

	"github.com/linxGnu/gosmpp"
	"github.com/linxGnu/gosmpp/data"
	"github.com/linxGnu/gosmpp/pdu"
)

// requests are those that wait for their answers, by sequence number.
type requests struct {
	mu sync.Mutex
	n  map[int32]int
}

// client serves the requests for a client.
func client(server string) {
	r := requests{n: map[int32]int{}}
	var session *gosmpp.Session
	send := func(n int, p pdu.PDU) error {
		r.mu.Lock()
		r.n[p.GetSequenceNumber()] = n
		r.mu.Unlock()
		return session.Transceiver().Submit(p)
	}
	wire.Serve(func(q wire.Request) (err error) {
		switch q.Do {
		case "bind":
			if session, err = bind(server, q, r.received); err == nil {
				wire.Done(q.N, nil)
			}
			if e, ok := err.(gosmpp.BindError); ok {
				wire.Emit(wire.Event{Event: "done", N: q.N, Status: int(e.CommandStatus)})
				err = nil
			}
			return err
		case "unbind":
			session.Close() // Close closes the connection twice, and sometimes reports an error for that
			wire.Done(q.N, nil)
			return nil
		}
		all, err := pdus(q)
		for i, p := range all {
			n := q.N
			if i < len(all)-1 {
				n = 0 // the last part's answer ends the request
			}
			if err = send(n, p); err != nil {
				return err
			}
		}
		return err
	})
}

// bind logs in.
func bind(server string, q wire.Request, received func(pdu.PDU) (pdu.PDU, bool)) (*gosmpp.Session, error) {
	auth := gosmpp.Auth{SMSC: server, SystemID: q.Name, Password: q.Password}
	c := gosmpp.TRXConnector(gosmpp.NonTLSDialer, auth)
	switch q.Kind {
	case "transmitter":
		c = gosmpp.TXConnector(gosmpp.NonTLSDialer, auth)
	case "receiver":
		c = gosmpp.RXConnector(gosmpp.NonTLSDialer, auth)
	}
	return gosmpp.NewSession(c, gosmpp.Settings{
		ReadTimeout: time.Minute,
		OnAllPDU:    received,
		OnSubmitError: func(_ pdu.PDU, err error) {
			fmt.Fprintln(os.Stderr, err)
		},
	}, -1)
}

// received reports what has arrived, and returns what the library answers.
func (r *requests) received(p pdu.PDU) (pdu.PDU, bool) {
	e := wire.Event{Event: "done", Status: int(p.GetHeader().CommandStatus)}
	switch p := p.(type) {
	case *pdu.DeliverSM:
		wire.Emit(
			wire.Event{
				Event: "deliver", Command: "deliver_sm",
				Message: seen(p.SourceAddr, p.DestAddr, p.EsmClass, p.Message, p.OptionalParameters),
			},
		)
		return p.GetResponse(), false
	case *pdu.DataSM:
		wire.Emit(
			wire.Event{
				Event: "deliver", Command: "data_sm",
				Message: seen(p.SourceAddr, p.DestAddr, p.EsmClass, pdu.ShortMessage{}, p.OptionalParameters),
			},
		)
		return p.GetResponse(), false
	case *pdu.EnquireLink, *pdu.Unbind:
		return p.GetResponse(), false
	case *pdu.SubmitSMResp:
		e.ID = p.MessageID
	case *pdu.DataSMResp:
		e.ID = p.MessageID
	case *pdu.SubmitMultiResp:
		e.ID = p.MessageID
	case *pdu.QuerySMResp:
		e.ID, e.State = p.MessageID, int(p.MessageState)
	}
	r.mu.Lock()
	e.N = r.n[p.GetSequenceNumber()]
	r.mu.Unlock()
	if e.N != 0 {
		wire.Emit(e)
	}
	return nil, false
}

// pdus returns what a request sends.
func pdus(q wire.Request) ([]pdu.PDU, error) {
	if q.Do == "multi" || q.Do == "submit" || q.Do == "replace" {
		return messages(q)
	}
	switch q.Do {
	case "data":
		p := pdu.NewDataSM().(*pdu.DataSM)
		p.SourceAddr, p.DestAddr = address(q.From), address(q.To)
		p.RegisterOptionalParam(pdu.Field{Tag: pdu.TagMessagePayload, Data: []byte(q.Text)})
		return []pdu.PDU{p}, nil
	case "query":
		p := pdu.NewQuerySM().(*pdu.QuerySM)
		p.MessageID, p.SourceAddr = q.ID, address(q.From)
		return []pdu.PDU{p}, nil
	case "cancel":
		p := pdu.NewCancelSM().(*pdu.CancelSM)
		p.MessageID, p.SourceAddr, p.DestAddr = q.ID, address(q.From), address(q.To)
		return []pdu.PDU{p}, nil
	case "enquire":
		return []pdu.PDU{pdu.NewEnquireLink()}, nil
	}
	return nil, fmt.Errorf("%s is not known", q.Do)
}

// messages returns the requests with a text.
func messages(q wire.Request) (all []pdu.PDU, err error) {
	if q.Payload {
		p := pdu.NewSubmitSM().(*pdu.SubmitSM)
		p.SourceAddr, p.DestAddr = address(q.From), address(q.To)
		p.RegisterOptionalParam(pdu.Field{Tag: pdu.TagMessagePayload, Data: []byte(q.Text)})
		return []pdu.PDU{p}, nil
	}
	s, err := content(q.Message)
	if q.Parts {
		err = s.SetLongMessageWithEnc(q.Text, data.GSM7BIT)
	}
	if err != nil {
		return nil, err
	}
	switch q.Do {
	case "replace":
		p := pdu.NewReplaceSM().(*pdu.ReplaceSM)
		p.MessageID, p.SourceAddr = q.ID, address(q.From)
		err := p.Message.SetMessageWithEncoding(q.Text, data.GSM7BIT)
		return []pdu.PDU{p}, err
	case "multi":
		p := pdu.NewSubmitMulti().(*pdu.SubmitMulti)
		p.SourceAddr, p.Message = address(q.From), s
		for _, to := range q.Many {
			d := pdu.NewDestinationAddress()
			d.SetAddress(address(to))
			p.DestAddrs.Add(d)
		}
		return []pdu.PDU{p}, nil
	}
	p := pdu.NewSubmitSM().(*pdu.SubmitSM)
	p.SourceAddr, p.DestAddr, p.Message = address(q.From), address(q.To), s
	p.RegisteredDelivery, p.ValidityPeriod = byte(q.Registered), q.Validity
	if q.Class != 0 {
		p.EsmClass = byte(q.Class)
	}
	parameters(p, q.Message)
	if !p.ShouldSplit() {
		return []pdu.PDU{p}, nil
	}
	parts, err := p.Split()
	for _, part := range parts {
		all = append(all, part)
	}
	return all, err
}
