package httpsms

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"pmg/internal/texts"
	"pmg/protocols"
	"pmg/sms"
)

// The dialects: the forms in which requests, their answers and the calls that follow are written. Their names are
// values of the option dialects; the numbers are part of stored messages, so their meaning never changes.
const (
	Own    uint8 = iota // the API of docs/http.md
	Kannel              // Kannel's sendsms
	Jasmin              // Jasmin's HTTP and REST interfaces
)

// ConnectorOptions are the HTTP options of a connector. It implements protocols.Options.
type ConnectorOptions struct {
	Dialects       []string `yaml:"dialects" default:"pmg" enum:"pmg|kannel|jasmin" only:"in" live:"no" doc:"Whose requests it answers: pmg is the API of docs/http.md below /v1/, kannel /cgi-bin/sendsms, jasmin /send and /secure/."`
	StatusPassword string   `yaml:"status_password" secret:"yes" only:"in" live:"yes" doc:"The password of Kannel's /status.xml, /status.txt and /status, with figures of the gateway; none without it."`

	Portal bool `yaml:"portal" default:"false" only:"in" live:"yes" doc:"Whether it serves pages for customers below /portal/, to the users of accounts that may log in on it (docs/portal.md)."`

	PortalURL   string           `yaml:"portal_url" only:"in" live:"yes" doc:"The address at which browsers find the pages, such as https://sms.example.net. Links for new passwords in mails begin with it, and servers of OpenID Connect lead back to it; without it there are neither."`
	Brand       Brand            `yaml:"brand" only:"in" live:"yes" doc:"Name, picture and colour of the pages for customers, such as {name: Example SMS, logo: logo.svg, colour: \"#0a5\"} (docs/portal.md)."`
	PortalTexts string           `yaml:"portal_texts" only:"in" live:"yes" doc:"A directory with texts of the pages for customers: files such as fr.json and de.json, which add languages and change texts (docs/portal.md). A reload reads them again."`
	texts       *texts.Catalogue // read from PortalTexts; nil: those that come with the program

	Preset    string          `yaml:"preset" enum:"kannel|jasmin|pmg" only:"out" live:"rebind" doc:"The SMSC's interface, with request, answers and receipts: another gateway's, as named in dialects."`
	URL       string          `yaml:"url" only:"out" live:"rebind" doc:"What is called for each message: a template with {fields} (docs/http-smsc.md). A parameter of its query whose fields are all empty is left out. With a preset the address is enough, such as http://192.0.2.1:13013."`
	Request   RequestOptions  `yaml:"request" only:"out" live:"rebind" doc:"The rest of the request, in place of what the preset says."`
	Answers   AnswerOptions   `yaml:"answers" only:"out" live:"rebind" doc:"What answers mean, beside their statuses: 2xx is success, 429 throttled, 400, 402, 406, 409, 411 to 417, 421, 422, 426, 428, 431 and 451 permanent, every other temporary."`
	Callbacks CallbackOptions `yaml:"callbacks" only:"out" live:"rebind" doc:"How the SMSC brings receipts and messages from mobiles: by requests to a listener of ours."`
}

// Brand is what the pages for customers look like.
type Brand struct {
	Name   string `yaml:"name" live:"yes" doc:"The name in the heads of the pages, in mails and in authenticators; Messages when empty."`
	Logo   string `yaml:"logo" live:"yes" doc:"A file with a picture, PNG or SVG of 64 KiB at most, which stands before the name. A reload reads it again."`
	Colour string `yaml:"colour" live:"yes" doc:"The colour of links and buttons, such as \"#0a5\" or \"#00aa55\". On light pages it is made darker, on dark ones lighter, until it can be read (a contrast of 4.5:1)."`

	picture Picture // read from Logo
}

// SetTexts sets the texts of PortalTexts.
func (o *ConnectorOptions) SetTexts(all *texts.Catalogue) { o.texts = all }

// Texts returns the texts of PortalTexts, nil without them.
func (o *ConnectorOptions) Texts() *texts.Catalogue { return o.texts }

// A Picture is the content of a file.
type Picture struct {
	Kind string // media type; "": there is no picture
	Data []byte
	Tag  string // differs between contents, so that browsers may keep one
}

// SetPicture sets the content of Logo.
func (b *Brand) SetPicture(kind string, data []byte) {
	b.picture = Picture{kind, data, fmt.Sprintf("%x", sha256.Sum256(data))[:16]}
}

// Picture returns the content of Logo.
func (b *Brand) Picture() *Picture { return &b.picture }

// RequestOptions define how a message is written, in addition to its URL.
type RequestOptions struct {
	Method  string   `yaml:"method" enum:"GET|POST|PUT" live:"rebind" doc:"POST where there is a body, else GET."`
	Headers []string `yaml:"headers" secret:"yes" live:"rebind" doc:"Headers, each as \"Name: template\"; of two with a name the last one counts, the preset's before ours."`
	Form    string   `yaml:"form" live:"rebind" doc:"The body as parameters of a form: to={to}&text={text}. One whose fields are all empty is left out."`
	JSON    string   `yaml:"json" live:"rebind" doc:"The body as JSON, whose strings are templates. What has only empty fields is left out; a string that begins with # becomes a number or a word, such as \"#{validity}\"."`
	Login   string   `yaml:"login" enum:"basic|oauth2|none" live:"rebind" doc:"basic sends system_id and password as HTTP Basic; templates have them as {username} and {password}. oauth2 sends the token of token."`

	Token TokenOptions `yaml:"token" live:"rebind" doc:"With login: oauth2, the token: by client credentials (RFC 6749), renewed shortly before it ends, and when the SMSC answers 401."`
}

// TokenOptions define how a token is requested from an authorization server.
type TokenOptions struct {
	URL          string `yaml:"url" live:"rebind" doc:"URL of the authorization server. The connector's tls applies if it has the host of the SMSC; else the machine's authorities."`
	ClientID     string `yaml:"client_id" live:"rebind" doc:"Who we are there."`
	ClientSecret string `yaml:"client_secret" secret:"yes" live:"rebind" doc:"The password of client_id."`
	Scope        string `yaml:"scope" live:"rebind" doc:"What the token is to allow, if the server wants it: words with spaces between them."`
	Login        string `yaml:"login" enum:"basic|form" live:"rebind" doc:"How client_id and client_secret are sent: basic, the default, as HTTP Basic, or form, as parameters of the body."`
}

// AnswerOptions define the meaning of answers. The first of throttled, temporary, permanent and success that
// fits an answer counts.
type AnswerOptions struct {
	Throttled Condition `yaml:"throttled" live:"rebind" doc:"The message was sent too fast, and is sent again."`
	Temporary Condition `yaml:"temporary" live:"rebind" doc:"The message is sent again after a pause (retry.temporary)."`
	Permanent Condition `yaml:"permanent" live:"rebind" doc:"The message has ended: it was refused."`
	Success   Condition `yaml:"success" live:"rebind" doc:"The SMSC has the message. Where this is given, any other 2xx is no answer: on_unknown decides."`
	Otherwise string    `yaml:"otherwise" enum:"permanent|temporary" live:"rebind" doc:"What an answer means that fits none of them, whatever its status is; its status says it when empty."`
	ID        Place     `yaml:"id" live:"rebind" doc:"Where the SMSC's id of the message stands. Without one it is ours, {id}."`
}

// A Condition is a requirement for an answer. All given fields must fit.
type Condition struct {
	Status []string `yaml:"status" live:"rebind" doc:"Statuses, such as 202 or 5xx."`
	Body   string   `yaml:"body" live:"rebind" doc:"A regular expression (RE2) that the body must match."`
	JSON   string   `yaml:"json" live:"rebind" doc:"A JSON pointer, such as /messages/0/status, to a value of the body."`
	Value  string   `yaml:"value" live:"rebind" doc:"A regular expression that the value there must match; any value when empty."`
}

// IsGiven reports whether the condition is set.
func (c *Condition) IsGiven() bool { return len(c.Status) > 0 || c.Body != "" || c.JSON != "" }

// A Place is the place of a value in an answer.
type Place struct {
	Body   string `yaml:"body" live:"rebind" doc:"A regular expression whose first group is the value."`
	JSON   string `yaml:"json" live:"rebind" doc:"A JSON pointer to the value."`
	Header string `yaml:"header" live:"rebind" doc:"The name of a header."`
}

// CallbackOptions are the requests by which an SMSC brings receipts and messages from mobiles: to /from/NAME/receipts and
// /from/NAME/inbound of a listener of ours, NAME being the connector's.
type CallbackOptions struct {
	Listener string         `yaml:"listener" live:"rebind" doc:"The in connector with protocol: http that takes them."`
	URL      string         `yaml:"url" live:"rebind" doc:"The address at which the SMSC reaches these paths, such as https://pmg.example.net:8080. {receipt_url} of templates begins with it."`
	Secret   string         `yaml:"secret" secret:"yes" live:"rebind" doc:"What each must show: as the parameter token, or as the password of HTTP Basic, or as a bearer token. {receipt_url} has it."`
	Networks []netip.Prefix `yaml:"networks" live:"rebind" doc:"Addresses that they may come from, such as 192.0.2.0/24; any when empty. secret or networks must be given."`
	Receipts ReceiptFields  `yaml:"receipts" live:"rebind" doc:"Where receipts have what they say: names of parameters of the query or of a form, or JSON pointers into the body."`
	Inbound  InboundFields  `yaml:"inbound" live:"rebind" doc:"The same for messages from mobiles."`
	Reply    string         `yaml:"reply" live:"rebind" doc:"What they are answered with when they were taken, as text; nothing when empty."`
}

// ReceiptFields are the places of values in receipts.
type ReceiptFields struct {
	List   string   `yaml:"list" live:"rebind" doc:"A JSON pointer to a list of receipts, in each of which the others are looked for; / is a body that is a list. A single one is taken as well."`
	ID     string   `yaml:"id" live:"rebind" doc:"The id of the message, as answers.id has it. {receipt_url} has ours as message."`
	State  string   `yaml:"state" live:"rebind" doc:"The state of the message."`
	Error  string   `yaml:"error" live:"rebind" doc:"The error of the network."`
	Text   string   `yaml:"text" live:"rebind" doc:"The text in the form of SMPP (appendix B): its stat: and err: count more than state and error."`
	States []string `yaml:"states" live:"rebind" doc:"What the words of state mean, beside those of SMPP and docs/events.md, in any letter case: WORD=STATE, with STATE one of delivered, expired, deleted, undeliverable, accepted, unknown, rejected and enroute. Others are unknown."`
}

// InboundFields are the places of values in messages from mobiles.
type InboundFields struct {
	List    string `yaml:"list" live:"rebind" doc:"A JSON pointer to a list of messages, as that of receipts."`
	From    string `yaml:"from" live:"rebind" doc:"The sender."`
	To      string `yaml:"to" live:"rebind" doc:"The recipient."`
	Text    string `yaml:"text" live:"rebind" doc:"The text, as charset says."`
	Charset string `yaml:"charset" live:"rebind" doc:"The charset of the text, as Kannel names them: UTF-8 (when missing), UTF-16BE, ISO-8859-1, or 8-BIT for octets that are no text."`
	Octets  string `yaml:"octets" live:"rebind" doc:"The octets of the text in hexadecimal digits, which count before text."`
	Coding  string `yaml:"coding" live:"rebind" doc:"How the octets are characters: SMPP's data_coding."`
	UDH     string `yaml:"udh" live:"rebind" doc:"The user data header with its length octet, as it is or in hexadecimal digits."`
}

// NewConnectorOptions returns the default options of a connector.
func NewConnectorOptions() *ConnectorOptions { return &ConnectorOptions{Dialects: []string{"pmg"}} }

// TakesHeader reports whether the requests of an out connector have room for user data headers.
func (o *ConnectorOptions) TakesHeader() bool {
	if (o.Preset == "kannel" || o.Preset == "pmg") && o.Request.Form == "" && o.Request.JSON == "" &&
		!strings.Contains(o.URL, "{") {
		return true
	}
	for _, t := range []string{o.URL, o.Request.Form, o.Request.JSON} {
		if strings.Contains(t, "{udh") {
			return true
		}
	}
	return false
}

// TakesSender reports whether the requests of an out connector bring the sender of a message.
func (o *ConnectorOptions) TakesSender() bool {
	q := &o.Request
	described := strings.Contains(o.URL, "{") || q.Form != "" || q.JSON != ""
	return !described || strings.Contains(strings.Join(append([]string{o.URL, q.Form, q.JSON}, q.Headers...), "\n"), "{from")
}

// BindType implements protocols.Options.
func (*ConnectorOptions) BindType() protocols.BindType { return protocols.Transceiver }

// MaxWindow implements protocols.Options.
func (*ConnectorOptions) MaxWindow() int { return 10_000 }

// Alphabets implements protocols.Options: calls name the alphabet of each text.
func (*ConnectorOptions) Alphabets() sms.Alphabets {
	return sms.NewAlphabets(sms.ASCII, sms.Latin1, sms.UCS2, sms.Binary, sms.Other)
}

// MaxText implements protocols.Options.
func (*ConnectorOptions) MaxText() int { return 0 }

// CheckLogin implements protocols.Options.
func (o *ConnectorOptions) CheckLogin(_, _ string) []protocols.Problem {
	if o.StatusPassword != "" && !slices.Contains(o.Dialects, "kannel") {
		return []protocols.Problem{
			{Option: "status_password", Text: "must not be given without kannel in dialects, whose pages of status it is for"},
		}
	}
	return nil
}

// CheckAccount implements protocols.Options.
func (*ConnectorOptions) CheckAccount(_, _ string) []protocols.Problem { return nil }
