package ucp

// An SM has the fields of operations 51 to 58. Operations 01, 02, 03 and 30 have some of them.
type SM struct {
	AdC, OAdC               Field // recipient and originator; in operation 53 the other way round
	AC                      Field // authentication code
	NRq, NAdC, NT, NPID     Field // notification: requested or not, address, events, protocol
	LRq, LRAd, LPID         Field // last resort address
	DD, DDT, VP             Field // deferred delivery: requested or not, time; end of the validity
	RPID                    Field // protocol identifier
	SCTS                    Field // time stamp of the SMSC
	Dst, Rsn, DSCTS         Field // outcome of a delivery: status, reason, time
	MT, NB, Msg             Field // type of the text; number of bits of a transparent text; the text
	MMS, PR, DCs, MCLs, RPI Field // more to come, priority, alphabet (unused), class, reply path
	CPg, RPLy               Field // reserved
	OTOA                    Field // type of OAdC
	HPLMN                   Field // address of the MSC of a message from a mobile
	XSer                    Field // extra services
	RES4, RES5              Field // reserved
}

// The longest fields, in characters.
const (
	maxAddress  = 16
	maxOAdC     = 24
	maxMsg      = 1280
	maxXSer     = 400
	maxReserved = 400
	maxSM       = 640 // system message of a result
)

// maxAdC returns the maximum length of AdC. The recipient of a notification is the sender of the message: an SMSC may write a
// name there, as the digits of an alphanumeric originator.
func (p *PDU) maxAdC() int {
	if p.OT == Notify {
		return maxOAdC
	}
	return maxAddress
}

func (p *PDU) walkSM(w *Walk) {
	m := &p.SM
	w.Str("AdC", p.maxAdC(), ecAdC, &m.AdC)
	w.Str("OAdC", maxOAdC, ecSyntax, &m.OAdC)
	w.Secret("AC", maxAddress, ecSyntax, &m.AC)
	w.Str("NRq", 1, ecSyntax, &m.NRq)
	w.Str("NAdC", maxAddress, ecSyntax, &m.NAdC)
	w.Str("NT", 1, ecSyntax, &m.NT)
	w.Str("NPID", 4, ecSyntax, &m.NPID)
	w.Str("LRq", 1, ecSyntax, &m.LRq)
	w.Str("LRAd", maxAddress, ecSyntax, &m.LRAd)
	w.Str("LPID", 4, ecSyntax, &m.LPID)
	w.Str("DD", 1, ecSyntax, &m.DD)
	w.Str("DDT", 10, ecDeferred, &m.DDT)
	w.Str("VP", 10, ecPeriod, &m.VP)
	w.Str("RPID", 4, ecSyntax, &m.RPID)
	w.Str("SCTS", 12, ecSyntax, &m.SCTS)
	w.Str("Dst", 1, ecSyntax, &m.Dst)
	w.Str("Rsn", 3, ecSyntax, &m.Rsn)
	w.Str("DSCTS", 12, ecSyntax, &m.DSCTS)
	w.Str("MT", 1, ecMessageType, &m.MT)
	w.Str("NB", 4, ecSyntax, &m.NB)
	w.Msg("Msg", p.isHex(), &m.Msg, p.textName())
	w.Str("MMS", 1, ecSyntax, &m.MMS)
	w.Str("PR", 1, ecSyntax, &m.PR)
	w.Str("DCs", 1, ecSyntax, &m.DCs)
	w.Str("MCLs", 1, ecSyntax, &m.MCLs)
	w.Str("RPI", 1, ecSyntax, &m.RPI)
	w.Str("CPg", maxReserved, ecSyntax, &m.CPg)
	w.Str("RPLy", maxReserved, ecSyntax, &m.RPLy)
	w.Str("OTOA", 4, ecSyntax, &m.OTOA)
	w.Str("HPLMN", maxAddress, ecSyntax, &m.HPLMN)
	w.Str("XSer", maxXSer, ecSyntax, &m.XSer)
	w.Str("RES4", maxReserved, ecSyntax, &m.RES4)
	w.Str("RES5", maxReserved, ecSyntax, &m.RES5)
}

func (p *PDU) walkCall(w *Walk) {
	m := &p.SM
	w.Str("AdC", maxAddress, ecAdC, &m.AdC)
	w.Str("OAdC", maxAddress, ecSyntax, &m.OAdC)
	w.Secret("AC", maxAddress, ecSyntax, &m.AC)
	w.Str("MT", 1, ecMessageType, &m.MT)
	w.Msg("Msg", p.isHex(), &m.Msg, p.textName())
}

// A Legacy has the fields of operations 02 and 03 that are not in SM.
type Legacy struct {
	NPL  Field // number of recipients, or of group addresses
	RAds Field // 02: the recipients, with "/" between them

	// 03: fields that must be empty. LRP exists only in the ERMES form of the operation.
	RP, LRP, PR, LPR, UR, LUR, RC, LRC Field
	ERMES                              bool
}

func (p *PDU) walkMultiple(w *Walk) {
	m, l := &p.SM, p.legacy(w)
	w.Str("NPL", 2, ecSyntax, &l.NPL)
	w.List("RAd", maxRecipients, p.number(w, l.NPL), &l.RAds)
	w.Str("OAdC", maxAddress, ecSyntax, &m.OAdC)
	w.Secret("AC", maxAddress, ecSyntax, &m.AC)
	w.Str("MT", 1, ecMessageType, &m.MT)
	w.Msg("Msg", p.isHex(), &m.Msg, p.textName())
}

// maxRecipients is the highest NPL of an operation 02.
const maxRecipients = 20

// The number of fields around the slots between NPL and DD in an operation 03, and the number of slots in the ERMES form,
// which has LRP.
const (
	supplementaryFixed = 4 + 4
	slotsERMES         = 8
)

func (p *PDU) walkSupplementary(w *Walk) {
	m, l := &p.SM, p.legacy(w)
	w.Variant("slots", slotsERMES, supplementaryFixed+slotsERMES, &l.ERMES)
	w.Str("RAd", maxAddress, ecAdC, &m.AdC)
	w.Str("OAdC", maxAddress, ecSyntax, &m.OAdC)
	w.Secret("AC", maxAddress, ecSyntax, &m.AC)
	w.Str("NPL", 2, ecGA, &l.NPL)
	w.Str("RP", maxReserved, ecSyntax, &l.RP)
	if l.ERMES {
		w.Secret("LRP", maxReserved, ecSyntax, &l.LRP)
	}
	w.Str("PR", maxReserved, ecSyntax, &l.PR)
	w.Secret("LPR", maxReserved, ecSyntax, &l.LPR)
	w.Str("UR", maxReserved, ecSyntax, &l.UR)
	w.Secret("LUR", maxReserved, ecSyntax, &l.LUR)
	w.Str("RC", maxReserved, ecSyntax, &l.RC)
	w.Secret("LRC", maxReserved, ecSyntax, &l.LRC)
	w.Str("DD", 1, ecSyntax, &m.DD)
	w.Str("DDT", 10, ecDeferred, &m.DDT)
	w.Str("MT", 1, ecMessageType, &m.MT)
	w.Msg("Msg", p.isHex(), &m.Msg, p.textName())
}

func (p *PDU) walkTransfer(w *Walk) {
	m := &p.SM
	w.Str("AdC", maxAddress, ecAdC, &m.AdC)
	w.Str("OAdC", maxAddress, ecSyntax, &m.OAdC)
	w.Secret("AC", maxAddress, ecSyntax, &m.AC)
	w.Str("NRq", 1, ecSyntax, &m.NRq)
	w.Str("NAdC", maxAddress, ecSyntax, &m.NAdC)
	w.Str("NPID", 4, ecSyntax, &m.NPID)
	w.Str("DD", 1, ecSyntax, &m.DD)
	w.Str("DDT", 10, ecDeferred, &m.DDT)
	w.Str("VP", 10, ecPeriod, &m.VP)
	w.Msg("AMsg", true, &m.Msg, "AMsg")
}

// An Alerting is the body of operation 31.
type Alerting struct{ AdC, PID Field }

func (p *PDU) walkAlert(w *Walk) {
	a := &p.rare().alert
	w.Str("AdC", maxAddress, ecAdC, &a.AdC)
	w.Str("PID", 4, ecSyntax, &a.PID)
}

// A Login is the body of operations 60 and 61. The last two fields of 61 are reserved, and the last field of 60.
type Login struct {
	OAdC, OTON, ONPI, STYP, PWD, NPWD, VERS, LAdC, LTON, LNPI, OPID, RES Field
}

// maxPasswordField is the maximum length of a password, in hexadecimal digits. The specification says 32, but an extension
// character needs two codes.
const maxPasswordField = 64

func (p *PDU) walkLogin(w *Walk) { p.walkSession(w, "OPID", "RES1") }
func (p *PDU) walkList(w *Walk)  { p.walkSession(w, "RES1", "RES2") }

func (p *PDU) walkSession(w *Walk, eleventh, twelfth string) {
	l := &p.rare().login
	w.Str("OAdC", maxAddress, ecSyntax, &l.OAdC)
	w.Str("OTON", 1, ecSyntax, &l.OTON)
	w.Str("ONPI", 1, ecSyntax, &l.ONPI)
	w.Str("STYP", 1, ecSyntax, &l.STYP)
	w.Secret("PWD", maxPasswordField, ecAuthentication, &l.PWD)
	w.Secret("NPWD", maxPasswordField, ecAuthentication, &l.NPWD)
	w.Str("VERS", 4, ecSyntax, &l.VERS)
	w.Str("LAdC", maxAddress, ecSyntax, &l.LAdC)
	w.Str("LTON", 1, ecSyntax, &l.LTON)
	w.Str("LNPI", 1, ecSyntax, &l.LNPI)
	w.Str(eleventh, 4, ecSyntax, &l.OPID)
	w.Str(twelfth, maxReserved, ecSyntax, &l.RES)
}

// legacy returns the fields that only operations 02 and 03 have.
func (p *PDU) legacy(w *Walk) *Legacy {
	l := &p.rare().legacy
	if w.mode == read || w.mode == scan {
		*l = Legacy{}
	}
	return l
}

// isHex reports whether the text of the message is in hexadecimal digits.
func (p *PDU) isHex() bool {
	return p.OT == Transfer || p.isType('3') || p.isType('4')
}

// isType reports whether MT is a digit.
func (p *PDU) isType(mt byte) bool {
	f := p.SM.MT
	return f.n == 1 && p.text[f.at] == mt
}

// textName returns the name in the pdu log for the text of the message when its octets are shown.
func (p *PDU) textName() string {
	if p.isType('4') {
		return "TMsg"
	}
	return "AMsg"
}
