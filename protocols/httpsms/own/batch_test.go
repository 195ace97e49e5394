package own

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// messages returns the end of a batch of n messages.
func messages(n int) string {
	return `"messages":[` + strings.Repeat(`{"to":"1"},`, n-1) + `{"to":"1"}]}`
}

// The text of a batch is encoded once, and one that cannot be sent is not encoded at all: not for each message.
func TestBatchSharesText(t *testing.T) {
	t.Parallel()
	b, p := new(Reader).Batch([]byte(`{"text":"Привет",`+messages(3)), 10)
	if p != nil {
		t.Fatal(p)
	}
	one, two := b.Item(0, noon).Message, b.Item(1, noon).Message
	if one == nil || two == nil || &one.Text[0] != &two.Text[0] || two.Encoding != "ucs2" {
		t.Errorf("%+v, %+v", one, two)
	}
	for _, text := range []string{strings.Repeat("a", maxCharacters+1), strings.Repeat("Ж", maxCharacters+1), strings.Repeat("a", maxString+1)} {
		m, p := new(Reader).Message([]byte(`{"to":"1","text":"`+text+`"}`), noon)
		if p == nil || p.Errors[0].Pointer != "/text" || p.Errors[0].Code != "too-long" {
			t.Errorf("%d octets: %+v, %+v", len(text), m, p)
		}
	}
	if m, p := new(Reader).Message([]byte(`{"to":"1","text":"`+strings.Repeat("a", maxCharacters)+`"}`), noon); p != nil || len(m.Text) != maxCharacters {
		t.Errorf("%+v", p)
	}
}

// The messages of a batch are refused from that on whose octets are too many together.
func TestBatchOctets(t *testing.T) {
	t.Parallel()
	const text = 30_000
	b, p := new(Reader).Batch([]byte(`{"text":"`+strings.Repeat("a", text)+`",`+messages(1000)), 1000)
	if p != nil {
		t.Fatal(p)
	}
	read := 0
	for i := range b.Len() {
		it := b.Item(i, noon)
		if it.Problem == nil {
			read++
		} else if it.Problem.Type != "/problems/too-large" {
			t.Fatalf("%+v", it.Problem)
		}
	}
	if want := MaxOctets/text + 1; read < want-1 || read > want {
		t.Errorf("%d were read, want %d", read, want)
	}
}

// A batch of many octets costs little, whatever they are.
func TestBatchCosts(t *testing.T) { // not parallel, because it measures the whole heap
	const size = 3 << 20
	wide := &strings.Builder{}
	for i := 0; wide.Len() < size; i++ {
		fmt.Fprintf(wide, `"%x":1,`, i)
	}
	for name, c := range map[string]struct {
		body string
		n    int
	}{
		"one text":         {`{"text":"` + strings.Repeat("a", size) + `",` + messages(1000), 0},
		"escapes":          {`{"text":"` + strings.Repeat(`\n`, size/2) + `",` + messages(1000), 0},
		"a text to send":   {`{"text":"` + strings.Repeat("a", 97_000) + `",` + messages(1000), 1000},
		"empty messages":   {`{"messages":[` + strings.Repeat("{},", size/3) + "{}]}", 0},
		"members":          {"{" + wide.String() + messages(1000), 0},
		"their members":    {`{"messages":[{` + wide.String() + `"to":"1"}]}`, 0},
		"parameters":       {`{"parameters":{` + wide.String() + `"a":"b"},` + messages(1000), 0},
		"a name":           {`{"` + strings.Repeat("a", size) + `":1,` + messages(1000), 0},
		"a number":         {`{"priority":` + strings.Repeat("1", size) + `,` + messages(1000), 0},
		"texts of its own": {`{"messages":[` + strings.Repeat(`{"to":"1","text":"`+strings.Repeat("b", 1000)+`"},`, 999) + `{"to":"1"}]}`, 1000},
	} {
		body := []byte(c.body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b, p := new(Reader).Batch(body, 1000)
		if (p == nil) != (c.n > 0) {
			t.Errorf("%s: %+v", name, p)
		} else if p == nil {
			for i := range b.Len() {
				_ = b.Item(i, noon)
			}
		} else if n := len(p.Answer().Body); n > 1<<16 {
			t.Errorf("%s: an answer of %d octets", name, n)
		}
		runtime.ReadMemStats(&after)
		if used := int64(after.TotalAlloc - before.TotalAlloc); used > 4<<20 {
			t.Errorf("%s: %d octets were allocated for a body of %d", name, used, len(body))
		}
	}
}
