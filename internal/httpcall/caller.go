package httpcall

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A Caller calls URLs that clients have given, and those of the configuration. It is safe for concurrent use.
type Caller struct {
	options Options

	mu      sync.Mutex
	senders map[class]*Sender
}

// A class is a group of calls that may share connections: their targets may reach the same addresses.
type class struct {
	trusted  bool
	networks string
}

// maxClasses is the limit of classes whose connections are kept: each changed configuration may leave a class behind.
const maxClasses = 64

// NewCaller returns a Caller. Servers may get a call twice.
func NewCaller(o Options) *Caller {
	o.Repeat = true
	return &Caller{options: o, senders: map[class]*Sender{}}
}

// Close closes the connections that wait for another call. Calls that are under way go on.
func (c *Caller) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
}

// Do makes a call, and returns the outcome. It makes no second attempt.
func (c *Caller) Do(ctx context.Context, call *httpsms.Call, to Target) Outcome {
	if err := to.check(call.URL); err != nil {
		return Outcome{Code: sms.Rejected, Err: "its URL " + err.Error()}
	}
	start := time.Now()
	a := c.sender(to).send(ctx, call)
	o := judge(call, &a)
	o.Took = time.Since(start)
	if o.Code == sms.OK && call.Replied != nil {
		call.Replied(a.Header.Get("Content-Type"), a.Body)
	}
	return o
}

// sender returns the Sender for a target.
func (c *Caller) sender(to Target) *Sender {
	key := class{trusted: to.Trusted}
	if !to.Trusted && len(to.Networks) > 0 {
		key.networks = fmt.Sprint(to.Networks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.senders[key]
	if s == nil {
		if len(c.senders) >= maxClasses {
			c.forget()
		}
		o := c.options
		if !to.Trusted {
			o.check = guard(to.Networks)
		}
		s = New(o)
		c.senders[key] = s
	}
	return s
}

// forget drops all senders. Connections in use are closed after they were idle for idleTime.
func (c *Caller) forget() {
	for _, s := range c.senders {
		s.Close()
	}
	clear(c.senders)
}

// AddTrace makes a call continue a trace, unless parent is empty.
func AddTrace(request *httpsms.Call, parent string) {
	if parent != "" {
		request.Header = append(request.Header, [2]string{"Traceparent", parent})
	}
}
