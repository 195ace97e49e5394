package system

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/protocols/smpp"
)

var receiptKills = flag.Int("receipt-kills", 3, "how often TestKillReceipts kills the gateway")

const killReceiptsConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0"}
store: {dir: %q, ballast: 0B}
accounts: [{system_id: one, password: secret}, {system_id: two, password: secret}]
connectors:
  - {name: clients, direction: in, address: %q, window: 100}
  - {name: operator, direction: out, address: %q, instances: 2, window: 10, system_id: pmg, password: secret, reconnect_delay: 20ms}
routes: [{to: operator}]
`

// A gateway that is killed again and again in the middle of receipts loses none: each client
// sees a receipt of each message that it knows to be accepted, and none of the other's.
func TestKillReceipts(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{
		Listen: "127.0.0.1:0", Receipts: true,
		Receipt: loadtest.ReceiptOptions{Delay: time.Millisecond, DelayMax: 500 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	file := process.WriteConfig(t, fmt.Sprintf(killReceiptsConfig, process.NewStoreDir(t), testutil.FreeAddress(t), sink.Addr()))
	var to atomic.Pointer[string]
	clients := []*receiver{newReceiver("one", &to), newReceiver("two", &to)}
	serve := func() *process.Process {
		p := program(t).Serve(t, file)
		e := p.Wait("listening")
		to.Store(&e.Address)
		return p
	}
	for range *receiptKills {
		p := serve()
		time.Sleep(time.Duration(200+rand.IntN(800)) * time.Millisecond)
		p.Kill()
		for _, line := range p.Problems() {
			t.Error(line)
		}
	}
	p := serve()
	for _, c := range clients {
		c.submits.Store(false)
	}
	for _, c := range clients {
		testutil.Eventually(t, "each message of "+c.account+" has a receipt", func() bool { return c.missing() == 0 })
	}
	p.Settle()
	for _, c := range clients {
		c.cancel()
		c.done.Wait()
	}
	for i, c := range clients {
		other := clients[1-i]
		twice := 0
		for id, n := range c.receipts {
			if other.accepted[id] {
				t.Errorf("account %s has got a receipt of %s's message %s", c.account, other.account, id)
			}
			if n > 1 {
				twice++
			}
		}
		if len(c.accepted) == 0 || len(c.problems) > 0 {
			t.Errorf("account %s: %d messages accepted, %q", c.account, len(c.accepted), c.problems)
		}
		t.Logf("account %s: %d messages accepted, %d receipts twice, %d logins", c.account, len(c.accepted), twice, c.logins)
	}
	p.Stop()
}

// A receiver is a client that submits messages, which ask for receipts, and takes receipts. It
// connects again when its connection breaks.
type receiver struct {
	account string
	to      *atomic.Pointer[string]
	submits atomic.Bool
	cancel  context.CancelFunc
	done    sync.WaitGroup

	mu       sync.Mutex
	logins   int
	accepted map[string]bool // ids
	receipts map[string]int  // by id
	problems []string
}

func newReceiver(account string, to *atomic.Pointer[string]) *receiver {
	ctx, cancel := context.WithCancel(context.Background())
	c := &receiver{account: account, to: to, cancel: cancel, accepted: map[string]bool{}, receipts: map[string]int{}}
	c.submits.Store(true)
	c.done.Go(func() {
		for ctx.Err() == nil {
			if address := to.Load(); address != nil {
				c.session(ctx, *address)
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	return c
}

// missing returns how many messages have no receipt.
func (c *receiver) missing() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.accepted {
		if c.receipts[id] == 0 {
			n++
		}
	}
	return n
}

// session connects and exchanges PDUs until the connection ends.
func (c *receiver) session(ctx context.Context, address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return // there is no gateway at present
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_, err = conn.Write(lineOf("bind_transceiver seq=1 system_id=" + c.account + " password=secret interface_version=0x34"))
	var in []byte
	for d, buffer := smpp.New(smpp.Options{}), make([]byte, 16<<10); err == nil; {
		var n int
		if n, err = d.Frame(in); err != nil || n > len(in) {
			n, err = conn.Read(buffer)
			in = append(in, buffer[:n]...)
			continue
		}
		var p smpp.PDU
		if err = p.Decode(in[:n]); err == nil {
			err = c.received(conn, &p)
		}
		in = in[n:]
	}
}

// received answers a PDU. Each answer to a submit makes room for the next.
func (c *receiver) received(to io.Writer, p *smpp.PDU) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	submits := 0
	switch p.ID {
	case smpp.BindTransceiverResp:
		submits = 10
		c.logins++
	case smpp.SubmitSMResp:
		submits = 1
		if p.CommandStatus == 0 {
			c.accepted[string(p.SMResp.MessageID)] = true
		}
	case smpp.DeliverSM:
		r, ok := smpp.ParseReceipt(p.SM.ShortMessage, p.SM.TLVs, nil)
		if !ok || !bytes.Equal(r.ID, r.TextID) {
			c.problems = append(c.problems, string(p.AppendLog(nil, true)))
		}
		c.receipts[string(r.ID)]++
		_, err = to.Write(lineOf(fmt.Sprintf("deliver_sm_resp seq=%d", p.SequenceNumber)))
	case smpp.Unbind:
		_, _ = to.Write(lineOf(fmt.Sprintf("unbind_resp seq=%d", p.SequenceNumber)))
		return io.EOF
	case smpp.EnquireLink:
		_, err = to.Write(lineOf(fmt.Sprintf("enquire_link_resp seq=%d", p.SequenceNumber)))
	}
	for range submits {
		if !c.submits.Load() {
			return err
		}
		_, err = to.Write(lineOf(`submit_sm seq=7 source_addr=1234 destination_addr=46700000001 registered_delivery=1 short_message="hello"`))
	}
	return err
}

// lineOf returns the octets of a PDU that is written as in the pdu log.
func lineOf(line string) []byte {
	var p smpp.PDU
	if err := p.ParseLog([]byte(line)); err != nil {
		panic(err)
	}
	return p.AppendWire(nil)
}
