package e2e

import (
	"fmt"
	"sync"
	"testing"

	"github.com/fiorix/go-smpp/smpp"
	"github.com/fiorix/go-smpp/smpp/pdu"
	"github.com/fiorix/go-smpp/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutext"
	"github.com/fiorix/go-smpp/smpp/pdu/pdutlv"
	"github.com/fiorix/go-smpp/smpp/smpptest"

	"pmg/internal/testutil"
)

// A tally counts texts.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
}

func (l *tally) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[string]int{}
	}
	l.seen[text]++
}

// once reports whether n texts were seen, each once.
func (l *tally) once(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, times := range l.seen {
		if times != 1 {
			return false
		}
	}
	return len(l.seen) == n
}

// goSMSC starts an SMSC made with go-smpp, which answers each submit and sends a receipt
// for it.
func goSMSC(t *testing.T, got *tally) *smpptest.Server {
	s := smpptest.NewUnstartedServer()
	s.User, s.Passwd = "pmg", "secret"
	s.Handler = func(c smpptest.Conn, m pdu.Body) {
		switch m.Header().ID {
		case pdu.SubmitSMID:
			text := m.Fields()[pdufield.ShortMessage].String()
			got.add(text)
			if v := m.TLVFields()[pdutlv.TagUserMessageReference]; v == nil || len(v.Bytes()) != 2 {
				t.Errorf("%s came without user_message_reference", text)
			}
			answer := pdu.NewSubmitSMResp()
			answer.Header().Seq = m.Header().Seq
			_ = answer.Fields().Set(pdufield.MessageID, "id"+text)
			_ = c.Write(answer)             // the gateway may have ended
			receipt := pdu.NewSubmitSM(nil) // NewDeliverSM writes an octet too much before the text
			receipt.Header().ID = pdu.DeliverSMID
			_ = receipt.Fields().Set(pdufield.ESMClass, 4)
			_ = receipt.Fields().Set(pdufield.DestinationAddr, m.Fields()[pdufield.SourceAddr].String())
			_ = receipt.Fields().Set(pdufield.ShortMessage, pdutext.Raw("id:id"+text+" stat:DELIVRD"))
			_ = c.Write(receipt)
		case pdu.EnquireLinkID:
			_ = c.Write(pdu.NewEnquireLinkRespSeq(m.Header().Seq))
		case pdu.UnbindID:
			answer := pdu.NewUnbindResp()
			answer.Header().Seq = m.Header().Seq
			_ = c.Write(answer)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// goWindow is how many submits goSMPP may have unanswered.
const goWindow = 10

// goSMPP binds go-smpp as a client that passes the messages that it receives to deliver.
func goSMPP(t *testing.T, g *gw, deliver func(pdu.Body)) *smpp.Transceiver {
	t.Helper()
	client := &smpp.Transceiver{
		Addr: g.addr("clients"), User: "acme", Passwd: "s3cret", WindowSize: goWindow, RespTimeout: testutil.Patience,
		Handler: func(p pdu.Body) {
			if p.Header().ID == pdu.DeliverSMID {
				deliver(p)
			}
		},
	}
	if s := <-client.Bind(); s.Status() != smpp.Connected {
		t.Fatal(s.Error())
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// goText reads octets as go-smpp does a text in the data_coding of its message.
func goText(p pdu.Body, octets []byte) string {
	if p.Fields()[pdufield.DataCoding].Bytes()[0] == 0 {
		return string(pdutext.GSM7(octets).Decode())
	}
	return string(pdutext.UCS2(octets).Decode())
}

// go-smpp as client and as SMSC.
func TestGoSMPP(t *testing.T) {
	parallel(t)
	const senders, each = goWindow, 20
	var got, receipts tally
	operator := goSMSC(t, &got)
	g := start(t, site{
		more:   fmt.Sprintf("{name: operator, direction: out, address: %q, system_id: pmg, password: secret, instances: 2}", operator.Addr()),
		routes: "{from: operator, to: clients}\n{to: operator}",
	})
	g.online("operator", 2)
	// go-smpp takes a delivery for an answer if a request of its own has the same
	// sequence number. Its numbers come from one counter for the process, which is
	// moved away from the gateway's numbers here.
	for range 10 * senders * each {
		pdu.NewEnquireLink()
	}
	client := goSMPP(t, g, func(p pdu.Body) { receipts.add(p.Fields()[pdufield.ShortMessage].String()) })
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			for j := range each {
				m, err := client.Submit(&smpp.ShortMessage{
					Src: "1234", Dst: "46700000001", Text: pdutext.Raw(fmt.Sprintf("%d-%d", i, j)), Register: pdufield.FinalDeliveryReceipt,
					TLVFields: pdutlv.Fields{pdutlv.TagUserMessageReference: []byte{byte(i), byte(j)}},
				})
				if err != nil || len(m.RespID()) != 16 {
					t.Errorf("%v, id %q", err, m.RespID())
				}
			}
		})
	}
	wg.Wait()
	testutil.Eventually(t, "every message has arrived once", func() bool { return got.once(senders * each) })
	testutil.Eventually(t, "every receipt has arrived once", func() bool { return receipts.once(senders * each) })
}
