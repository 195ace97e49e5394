package telemetry

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// The kinds of spans, by their numbers in the protocol.
const (
	Internal = 1
	Server   = 2
	Client   = 3
)

// A Span is a step of a message. Times are Unix nanoseconds.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent zero: none
	Name       string
	Kind       int
	Begin, End int64
	Failed     bool
	Error      string // reason, with Failed
	Attributes []Attribute
}

// An Attribute is a property of a span, with a text or a number.
type Attribute struct {
	key    string
	text   string
	number int64
	isInt  bool
}

// Text returns an attribute with a text.
func Text(key, text string) Attribute { return Attribute{key: key, text: text} }

// Number returns an attribute with a number.
func Number(key string, n int64) Attribute { return Attribute{key: key, number: n, isInt: true} }

// value is an AnyValue: 64-bit integers are strings in the JSON form of protobuf.
type value struct {
	Text  *string `json:"stringValue,omitempty"`
	Count *string `json:"intValue,omitempty"`
}

type keyValue struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type status struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type wireSpan struct {
	Trace      string     `json:"traceId"`
	ID         string     `json:"spanId"`
	Parent     string     `json:"parentSpanId,omitempty"`
	Name       string     `json:"name"`
	Kind       int        `json:"kind"`
	Begin      string     `json:"startTimeUnixNano"`
	End        string     `json:"endTimeUnixNano"`
	Attributes []keyValue `json:"attributes,omitempty"`
	Status     status     `json:"status"`
}

type scopeSpans struct {
	Scope struct {
		Name string `json:"name"`
	} `json:"scope"`
	Spans []wireSpan `json:"spans"`
}

type resourceSpans struct {
	Resource struct {
		Attributes []keyValue `json:"attributes"`
	} `json:"resource"`
	Scopes []scopeSpans `json:"scopeSpans"`
}

const statusError = 2

// encode returns the body of a request: an ExportTraceServiceRequest.
func encode(service string, spans []Span) ([]byte, error) {
	var r resourceSpans
	r.Resource.Attributes = wireAttributes([]Attribute{Text("service.name", service)})
	s := scopeSpans{Spans: make([]wireSpan, len(spans))}
	s.Scope.Name = "pmg"
	for i := range spans {
		s.Spans[i] = wire(&spans[i])
	}
	r.Scopes = []scopeSpans{s}
	return json.Marshal(map[string][]resourceSpans{"resourceSpans": {r}})
}

func wire(s *Span) wireSpan {
	w := wireSpan{
		Trace: hex.EncodeToString(s.Trace[:]), ID: hex.EncodeToString(s.ID[:]), Name: s.Name, Kind: s.Kind,
		Begin: strconv.FormatInt(s.Begin, 10), End: strconv.FormatInt(max(s.Begin, s.End), 10),
		Attributes: wireAttributes(s.Attributes),
	}
	if s.Parent != [8]byte{} {
		w.Parent = hex.EncodeToString(s.Parent[:])
	}
	if s.Failed {
		w.Status = status{statusError, s.Error}
	}
	return w
}

func wireAttributes(all []Attribute) []keyValue {
	out := make([]keyValue, len(all))
	for i, a := range all {
		out[i].Key = a.key
		if a.isInt {
			n := strconv.FormatInt(a.number, 10)
			out[i].Value.Count = &n
		} else {
			out[i].Value.Text = &all[i].text
		}
	}
	return out
}
