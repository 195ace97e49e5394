package system

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

const (
	phoneGroups = 4 // each has a goroutine
	phonesEach  = 25
	shortCode   = "12345"
)

// Phones are mobiles that send STOP and START, each of them one word after the other, and an account that writes to each after each
// word. The list of opt-outs blocks what the account submits.
type phones struct {
	x       *traffic
	url     string
	client  http.Client
	ended   atomic.Bool
	running sync.WaitGroup
	numbers atomic.Int64 // of messages, for their references

	mu       sync.Mutex
	last     map[string]string // by number: the last word of it that was confirmed
	words    map[string]int    // by "number word": how many were confirmed
	accepted map[string]string // ids of messages that were accepted, and their references
	refused  int
	problems []string
}

// startPhones starts them, with an address of the HTTP API.
func startPhones(x *traffic, api string) *phones {
	p := &phones{x: x, url: "http://" + api, last: map[string]string{}, words: map[string]int{}, accepted: map[string]string{}}
	p.client.Timeout = 10 * time.Second
	for group := range phoneGroups {
		p.running.Go(func() {
			for !p.ended.Load() {
				p.send(fmt.Sprintf("467010%02d%03d", group, rand.IntN(phonesEach)))
			}
		})
	}
	return p
}

// send sends a word of a phone, and when it is confirmed a message to the phone.
func (p *phones) send(number string) {
	word := "STOP"
	p.mu.Lock()
	if p.last[number] == word && rand.IntN(4) > 0 || rand.IntN(10) == 0 {
		word = "START"
	}
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.x.t.Context(), 3*testutil.Patience)
	defer cancel()
	if err := p.x.sink.Send(ctx, number, shortCode, word); err != nil {
		p.problem("%s of %s: %v", word, number, err)
		return
	}
	p.mu.Lock()
	p.last[number] = word
	p.words[number+" "+word]++
	p.mu.Unlock()
	p.write(ctx, number, word)
	time.Sleep(20 * time.Millisecond)
}

func (p *phones) problem(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.problems) < 20 {
		p.problems = append(p.problems, time.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
	}
}

// write submits a message to a phone until it is accepted or refused, which must be as the phone's last word wants it.
func (p *phones) write(ctx context.Context, number, word string) {
	reference := fmt.Sprint("p", p.numbers.Add(1))
	body := fmt.Sprintf(`{"from":%q,"to":%q,"text":"hello","client_reference":%q}`, shortCode, number, reference)
	for ctx.Err() == nil {
		code, text := post(ctx, &p.client, p.url, "phones", body, reference)
		id := idIn(text)
		switch {
		case code == http.StatusAccepted && id != "":
			p.mu.Lock()
			p.accepted[id] = reference
			p.mu.Unlock()
			if word == "STOP" {
				p.problem("message %s to %s was accepted, which has sent STOP", id, number)
			}
			return
		case code == http.StatusForbidden && strings.Contains(text, "opted-out"):
			p.mu.Lock()
			p.refused++
			p.mu.Unlock()
			if word != "STOP" {
				p.problem("a message to %s was refused, which has sent START", number)
			}
			return
		case code/100 == 4 && code != http.StatusTooManyRequests && code != http.StatusConflict:
			p.problem("a message to %s: %d, %s", number, code, text)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.problem("a message to %s has no answer", number)
}

// end ends the phones. Each word that was confirmed must be at the webhook of its client, and each message that was accepted must
// have its end there.
func (p *phones) end() {
	t := p.x.t
	p.ended.Store(true)
	p.running.Wait()
	testutil.Eventually(t, "the webhook has all words, and all ends of messages to phones", func() bool {
		for word, n := range p.words {
			if p.x.received(word) < n {
				return false
			}
		}
		for _, reference := range p.accepted {
			if _, ok := p.x.told.Load(reference); !ok {
				return false
			}
		}
		return true
	})
}

// compare compares what the owner does with what the phones want.
func (p *phones) compare(t *testing.T, owner *clusterNode) {
	t.Helper()
	stopped := 0
	for number, word := range p.last {
		code, text := 0, ""
		testutil.Eventually(t, "the owner's operators are answered", func() bool {
			code, text = ask(owner.store, "GET", "listed?number="+number, "")
			return code == http.StatusOK
		})
		if listed := strings.Contains(text, "optouts"); listed != (word == "STOP") {
			t.Errorf("%s has sent %s last: %s", number, word, text)
		}
		if word == "STOP" {
			stopped++
			p.write(t.Context(), number, word)
		}
	}
	for _, problem := range p.problems {
		t.Error(problem)
	}
	words := 0
	for _, n := range p.words {
		words += n
	}
	if stopped == 0 || p.refused == 0 || len(p.accepted) == 0 {
		t.Error("the phones have not sent both words")
	}
	t.Logf("%d STOP and START confirmed, all in force at %s: %d of %d phones on the list; %d messages refused, %d accepted",
		words, owner.store, stopped, len(p.last), p.refused, len(p.accepted))
}
