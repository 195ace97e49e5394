package arch

import (
	"go/ast"
	"testing"
)

// A size is how large something may be, and what is larger.
type size struct {
	of   string
	most int
	// larger are the exceptions, each with what it has and why that is right or not mended yet. A
	// number may only fall, and what falls to the limit goes.
	larger map[string]exception
}

type exception struct {
	n   int
	why string
}

const (
	wide  = "it is a list of values, for people or in the form of a PDU"
	cut   = "to be cut: it has several jobs"
	page  = "a page of the operators: what is shown, as its template names it"
	parts = "a session: what each stage keeps of it"
)

// methods and fields are what a receiver reaches, see reach.
func methods() size {
	return size{"methods of type", 45, map[string]exception{
		"connector/queue.Queue":  {46, "rings and trees that keep one order"},
		"store.durable":          {47, "an engine: what it promises, and its opening"},
		"protocols/smpp.session": {57, "a session's state machine: one method for each action"},
		"protocols/ucp.session":  {47, "a session's state machine: one method for each action"},
		"protocols/ucp.PDU":      {72, "a PDU: one accessor for each field that others ask for"},
	}}
}

func fields() size {
	return size{"fields of struct", 25, map[string]exception{
		"config.Config":                 {26, wide},
		"config.Connector":              {56, wide},
		"config.Account":                {39, wide},
		"loadtest.LoadResult":           {36, wide},
		"loadtest.LoadOptions":          {29, wide},
		"loadtest.SinkResult":           {28, wide},
		"loadtest.SinkOptions":          {27, wide},
		"loadtest.sinkCounts":           {28, wide},
		"loadtest/httpload.Options":     {31, wide},
		"loadtest/httpsink.Options":     {30, wide},
		"protocols/ucp.SM":              {33, wide},
		"protocols/httpsms/own.Message": {32, wide},
		"events.Event":                  {27, wide},
		"sms.Message":                   {37, wide},
		"admin.Connector":               {28, wide},
		"admin.Store":                   {26, wide},
		"admin.Status":                  {37, wide},
		"admin/web.connectorPage":       {38, page},
		"admin/web.connectorRow":        {34, page},
		"admin/web.overview":            {48, page},
		"connector.Link":                {54, parts},
		"stages.handle":                 {49, parts},
		"stages.Job":                    {34, "each kind of job has its own"},
		"pdulog.tracer":                 {29, cut},
		"loadtest.run":                  {36, cut},
		"loadtest/httpload.run":         {50, cut},
		"loadtest/httpload.streaming":   {55, cut},
		"plugin/expression.environment": {27, "with the message that it embeds"},
		"plugin/expression.run":         {30, "with the message that its environment embeds"},
	}}
}

// roomFields are what a type of the gateway's rooms, of httpapi, webhook and httpsmsc reaches: fewer than elsewhere.
func roomFields() size {
	return size{"fields of struct of a room", 20, map[string]exception{
		"gateway/intake.Submission":     {21, "one message on its way through the steps"},
		"gateway/operate.Operation":     {22, "with the request that it embeds"},
		"gateway/operate.StoredMessage": {23, wide},
		"gateway/keep.StoreStatus":      {21, wide},
	}}
}

// embeds are the embedded pointers to structs of another package.
var embeds = map[string]string{
	"admin/web.overview embeds admin.Status":              page,
	"plugin/expression.environment embeds plugin.Message": "expressions name the fields of what their environment embeds",
	"httpapi/server.conn embeds httpapi/conns.Conn":       "it is a net.Conn with more",
}

func lines() size {
	return size{"lines of function", 60, map[string]exception{
		"loadtest/cmd/pmgload.newLoadCommand": {68, "one command with its flags and its help"},
		"loadtest/cmd/pmgload.newSinkCommand": {82, "one command with its flags and its help"},
	}}
}

// Functions are small enough to be one thing.
func TestSizes(t *testing.T) {
	line := map[string]int{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		for _, d := range s.file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				name := s.pkg + "." + d.Name.Name
				if d.Recv != nil {
					name = s.pkg + "." + receiver(d).Name + "." + d.Name.Name
				}
				line[name] = s.fset.Position(d.End()).Line - s.fset.Position(d.Pos()).Line + 1
			}
		}
	}
	lines().check(t, line)
}

func (s size) check(t *testing.T, of map[string]int) {
	t.Helper()
	for name, n := range of {
		limit, larger := s.larger[name]
		switch {
		case larger && n < limit.n:
			t.Errorf("%s %s has %d, fewer than the list allows (%d): lower its number there, or remove it", s.of, name, n, limit.n)
		case larger && n > limit.n:
			t.Errorf("%s %s has %d, more than the list allows (%d)", s.of, name, n, limit.n)
		case !larger && n > s.most:
			t.Errorf("%s %s has %d, more than %d", s.of, name, n, s.most)
		}
	}
	for name, e := range s.larger {
		if of[name] == 0 || e.n <= s.most || e.why == "" {
			t.Errorf("the exception for %s %s is not needed, or says no reason", s.of, name)
		}
	}
}
