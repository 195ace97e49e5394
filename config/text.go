package config

import (
	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/fit"
)

// Text is the options of a connector about the texts of messages. docs/text.md describes them.
type Text struct {
	Charset   string   `yaml:"charset" default:"gsm7" enum:"gsm7|gsm7-packed|ascii|latin1|ucs2|utf8" live:"yes" doc:"The peer's default alphabet (SMPP: data_coding 0), both ways: gsm7 has an octet for each septet, gsm7-packed seven octets for eight."`
	ASCII     string   `yaml:"ascii" default:"ascii" enum:"ascii|gsm7" live:"yes" doc:"What the peer means by ASCII (SMPP: data_coding 1); some libraries, such as npm's smpp, write GSM 7-bit, an octet for each septet."`
	EncodeAs  string   `yaml:"encode_as" default:"keep" enum:"keep|default|shortest|ucs2" live:"yes" doc:"The alphabet of texts for the peer: keep theirs if the protocol can say which; default sends ASCII and Latin-1 in the default alphabet, shortest also UCS-2 texts that fit it; ucs2 sends all in UCS-2."`
	Missing   string   `yaml:"missing_characters" default:"ucs2" enum:"ucs2|transliterate|refuse" live:"yes" doc:"For texts with characters that the peer's default alphabet lacks: ucs2 sends UCS-2; transliterate similar characters, or UCS-2 if there are none or, with languages, if that takes no more parts; refuse refuses."`
	Long      string   `yaml:"long_messages" default:"auto" ucp:"split8" http:"pass" test:"split8" enum:"auto|pass|split8|split16|sar|payload|join" live:"rebind" doc:"How a text too long for one short message is sent (docs/text.md): pass in one PDU; split8, split16 in parts, with a reference of 8 or 16 bits in user data headers; sar in parts with sar_ parameters; payload in message_payload; auto as split8 for HTTP clients, else pass; join joins the sender's parts, which pass otherwise. sar, payload, auto and join are SMPP's."`
	Languages []string `yaml:"languages" enum:"turkish|spanish|portuguese|bengali|gujarati|hindi|kannada|malayalam|oriya|punjabi|tamil|telugu|urdu" live:"yes" doc:"National languages whose GSM 7-bit tables may be used where a text needs fewer parts than in UCS-2. The mobiles must know them."`
}

// The alphabets, by the words of charset.
var charsets = map[string]sms.Alphabet{
	"": sms.Default, "gsm7": sms.Default, "gsm7-packed": sms.DefaultPacked, "ascii": sms.DefaultASCII,
	"latin1": sms.DefaultLatin1, "ucs2": sms.DefaultUCS2, "utf8": sms.DefaultUTF8,
}

// The alphabets that a peer means by ASCII, by the words of ascii.
var asciis = map[string]sms.Alphabet{"": sms.ASCII, "ascii": sms.ASCII, "gsm7": sms.Default}

var encodings = map[string]fit.EncodeAs{
	"keep": fit.Keep, "default": fit.AsDefault, "shortest": fit.AsShortest, "ucs2": fit.AsUCS2,
}

var missings = map[string]fit.Missing{"ucs2": fit.UseUCS2, "transliterate": fit.Transliterate, "refuse": fit.Refuse}

var longs = map[string]fit.Long{
	"auto": fit.Auto, "pass": fit.Pass, "split8": fit.Split8, "split16": fit.Split16, "sar": fit.SplitSAR, "payload": fit.Payload,
	"join": fit.Join,
}

// checkText checks options that need a field of SMPP. Requests of HTTP have room for texts of any length, but
// an SMSC that is called may reject texts longer than a short message.
func (d *decoder) checkText(c *Connector, path string) {
	switch l := longs[c.Text.Long]; {
	case c.Protocol == "smpp":
	case c.IsHTTPSMSC() && (l == fit.Split8 || l == fit.Split16) && c.HTTP.TakesHeader():
	case c.IsHTTPSMSC() && l != fit.Pass && l != fit.Join:
		d.problem(
			path+".long_messages",
			"must be pass or join, or, where the request has a field for user data headers, split8 or split16, not %s",
			c.Text.Long,
		)
	case c.Transport() == ByRequest && l != fit.Pass && l != fit.Join:
		d.problem(path+".long_messages", "must be pass or join with protocol %s: calls have room for any text", c.Protocol)
	case c.Transport() != ByRequest && (l == fit.SplitSAR || l == fit.Payload || l == fit.Join):
		d.problem(
			path+".long_messages", "must be pass, split8 or split16 with protocol %s: only SMPP has a field for %s",
			c.Protocol, c.Text.Long,
		)
	}
}

// Form returns how the connector's peers take texts.
func (c *Connector) Form() *fit.Form {
	t := &c.Text
	var others sms.Alphabets
	if o := c.ProtocolOptions(); o != nil {
		others = o.Alphabets()
	}
	ascii := asciis[t.ASCII]
	if ascii != sms.ASCII {
		others &^= sms.NewAlphabets(sms.ASCII)
	}
	f := fit.New(charsets[t.Charset], others, encodings[t.EncodeAs])
	f.ASCII = ascii
	f.Missing, f.Long = missings[t.Missing], longs[t.Long]
	if o := c.ProtocolOptions(); o != nil {
		f.Most = o.MaxText()
	}
	for _, name := range t.Languages {
		l, _ := charset.ParseLanguage(name)
		f.Languages = f.Languages.With(l)
	}
	return f
}

// leastTextKey is how many characters pdulog.text_key has at least.
const leastTextKey = 16

// checkTextKey checks the key of the hashes that stand for texts in pdu logs.
func checkTextKey(d *decoder, p *PDULog) {
	switch {
	case p.TextKey == "":
	case p.Text:
		d.problem("pdulog.text_key", "has no effect while texts are written: set pdulog.text to false, or remove it")
	case len(p.TextKey) < leastTextKey:
		d.problem("pdulog.text_key", "must have %d characters or more, because a text could be guessed otherwise", leastTextKey)
	}
}
