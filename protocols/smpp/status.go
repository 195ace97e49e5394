package smpp

import (
	"cmp"
	"iter"
	"slices"

	"pmg/sms"
)

// The command_status values with which the driver itself answers (§5.1.3).
const (
	StatusOK           = 0x00
	StatusInvMsgLen    = 0x01
	StatusInvCmdLen    = 0x02
	StatusInvCmdID     = 0x03
	StatusInvBndSts    = 0x04
	StatusAlyBnd       = 0x05
	StatusInvPrtFlg    = 0x06
	StatusInvRegDlvFlg = 0x07
	StatusSysErr       = 0x08
	StatusInvSrcAdr    = 0x0A
	StatusInvDstAdr    = 0x0B
	StatusInvMsgID     = 0x0C
	StatusInvParam     = 0x09
	StatusBindFail     = 0x0D
	StatusInvPaswd     = 0x0E
	StatusInvSysID     = 0x0F
	StatusCancelFail   = 0x11
	StatusReplaceFail  = 0x13
	StatusMsgQFul      = 0x14
	StatusInvSerTyp    = 0x15
	StatusInvNumDests  = 0x33
	StatusInvDLName    = 0x34
	StatusInvDestFlag  = 0x40
	StatusInvEsmClass  = 0x43
	StatusCntSubDL     = 0x44
	StatusSubmitFail   = 0x45
	StatusInvSrcTON    = 0x48
	StatusInvSrcNPI    = 0x49
	StatusInvDstTON    = 0x50
	StatusInvDstNPI    = 0x51
	StatusInvSysTyp    = 0x53
	StatusInvRepFlag   = 0x54
	StatusInvNumMsgs   = 0x55
	StatusThrottled    = 0x58
	StatusInvSched     = 0x61
	StatusInvExpiry    = 0x62
	StatusInvDftMsgID  = 0x63
	StatusRxRAppn      = 0x66
	StatusQueryFail    = 0x67
	StatusInvTLVStream = 0xC0

	StatusInvParLen      = 0xC2
	StatusMissingParam   = 0xC3
	StatusInvOptParamVal = 0xC4

	StatusBcastFail       = 0x10D
	StatusBcastQueryFail  = 0x10E
	StatusBcastCancelFail = 0x10F
)

// sent marks the row whose status is sent for a sms.Code.
const sent = true

// A status is one row of the status table.
type status struct {
	number uint32
	name   string
	text   string
	code   sms.Code // the code of the status
	sent   bool     // the status is sent for that code
}

// statuses lists every assigned command_status (§5.1.3, SMPP 3.3 at 0x09, and SMPP 5.0 from 0x100)
// in order. After a temporary one the same message may be sent again later.
var statuses = [...]status{
	{0x00, "ESME_ROK", "no error", sms.OK, sent},
	{0x01, "ESME_RINVMSGLEN", "message length is invalid", sms.BadLength, sent},
	{0x02, "ESME_RINVCMDLEN", "command length is invalid", sms.Malformed, sent},
	{0x03, "ESME_RINVCMDID", "invalid command id", sms.Unsupported, sent},
	{0x04, "ESME_RINVBNDSTS", "incorrect bind status for given command", sms.BadState, sent},
	{0x05, "ESME_RALYBND", "already in bound state", sms.AlreadyBound, sent},
	{0x06, "ESME_RINVPRTFLG", "invalid priority flag", sms.BadParameter, !sent},
	{0x07, "ESME_RINVREGDLVFLG", "invalid registered delivery flag", sms.BadParameter, !sent},
	{0x08, "ESME_RSYSERR", "system error", sms.SystemError, sent},
	{0x09, "ESME_RINVPAR", "invalid parameter (SMPP 3.3)", sms.BadParameter, !sent},
	{0x0A, "ESME_RINVSRCADR", "invalid source address", sms.BadSource, sent},
	{0x0B, "ESME_RINVDSTADR", "invalid destination address", sms.BadDestination, sent},
	{0x0C, "ESME_RINVMSGID", "message id is invalid", sms.UnknownMessage, sent},
	{0x0D, "ESME_RBINDFAIL", "bind failed", sms.BindFailed, sent},
	{0x0E, "ESME_RINVPASWD", "invalid password", sms.BindFailed, !sent},
	{0x0F, "ESME_RINVSYSID", "invalid system id", sms.BindFailed, !sent},
	{0x11, "ESME_RCANCELFAIL", "cancel_sm failed", sms.Rejected, !sent},
	{0x13, "ESME_RREPLACEFAIL", "replace_sm failed", sms.Rejected, !sent},
	{0x14, "ESME_RMSGQFUL", "message queue full", sms.QueueFull, sent},
	{0x15, "ESME_RINVSERTYP", "invalid service type", sms.BadParameter, !sent},
	{0x33, "ESME_RINVNUMDESTS", "invalid number of destinations", sms.BadParameter, !sent},
	{0x34, "ESME_RINVDLNAME", "invalid distribution list name", sms.BadParameter, !sent},
	{0x40, "ESME_RINVDESTFLAG", "invalid destination flag", sms.BadParameter, !sent},
	{0x42, "ESME_RINVSUBREP", "invalid submit with replace request", sms.BadParameter, !sent},
	{0x43, "ESME_RINVESMCLASS", "invalid esm_class", sms.BadParameter, !sent},
	{0x44, "ESME_RCNTSUBDL", "cannot submit to distribution list", sms.Rejected, !sent},
	{0x45, "ESME_RSUBMITFAIL", "submit_sm or submit_multi failed", sms.Rejected, sent},
	{0x48, "ESME_RINVSRCTON", "invalid source address ton", sms.BadSource, !sent},
	{0x49, "ESME_RINVSRCNPI", "invalid source address npi", sms.BadSource, !sent},
	{0x50, "ESME_RINVDSTTON", "invalid destination address ton", sms.BadDestination, !sent},
	{0x51, "ESME_RINVDSTNPI", "invalid destination address npi", sms.BadDestination, !sent},
	{0x53, "ESME_RINVSYSTYP", "invalid system_type", sms.BadParameter, !sent},
	{0x54, "ESME_RINVREPFLAG", "invalid replace_if_present flag", sms.BadParameter, !sent},
	{0x55, "ESME_RINVNUMMSGS", "invalid number of messages", sms.BadParameter, !sent},
	{0x58, "ESME_RTHROTTLED", "allowed message limits exceeded", sms.Throttled, sent},
	{0x61, "ESME_RINVSCHED", "invalid scheduled delivery time", sms.BadSchedule, sent},
	{0x62, "ESME_RINVEXPIRY", "invalid validity period", sms.BadValidity, sent},
	{0x63, "ESME_RINVDFTMSGID", "predefined message invalid or not found", sms.BadParameter, !sent},
	{0x64, "ESME_RX_T_APPN", "ESME receiver temporary error", sms.TemporaryFailure, sent},
	{0x65, "ESME_RX_P_APPN", "ESME receiver permanent error", sms.Rejected, !sent},
	{0x66, "ESME_RX_R_APPN", "ESME receiver reject message error", sms.Rejected, !sent},
	{0x67, "ESME_RQUERYFAIL", "query_sm failed", sms.Rejected, !sent},
	{0xC0, "ESME_RINVOPTPARSTREAM", "error in the optional part of the PDU", sms.BadParameter, !sent},
	{0xC1, "ESME_ROPTPARNOTALLWD", "optional parameter not allowed", sms.BadParameter, !sent},
	{0xC2, "ESME_RINVPARLEN", "invalid parameter length", sms.BadParameter, !sent},
	{0xC3, "ESME_RMISSINGOPTPARAM", "expected optional parameter missing", sms.BadParameter, !sent},
	{0xC4, "ESME_RINVOPTPARAMVAL", "invalid optional parameter value", sms.BadParameter, sent},
	{0xFE, "ESME_RDELIVERYFAILURE", "delivery failure", sms.Rejected, !sent},
	{0xFF, "ESME_RUNKNOWNERR", "unknown error", sms.TemporaryFailure, !sent},
	{0x100, "ESME_RSERTYPUNAUTH", "not authorised to use service_type", sms.BadParameter, !sent},
	{0x101, "ESME_RPROHIBITED", "prohibited from using operation", sms.Blocked, sent},
	{0x102, "ESME_RSERTYPUNAVAIL", "service_type is unavailable", sms.BadParameter, !sent},
	{0x103, "ESME_RSERTYPDENIED", "service_type is denied", sms.BadParameter, !sent},
	{0x104, "ESME_RINVDCS", "invalid data coding scheme", sms.BadParameter, !sent},
	{0x105, "ESME_RINVSRCADDRSUBUNIT", "source address sub unit is invalid", sms.BadSource, !sent},
	{0x106, "ESME_RINVDSTADDRSUBUNIT", "destination address sub unit is invalid", sms.BadDestination, !sent},
	{0x107, "ESME_RINVBCASTFREQINT", "broadcast frequency interval is invalid", sms.BadParameter, !sent},
	{0x108, "ESME_RINVBCASTALIAS_NAME", "broadcast alias name is invalid", sms.BadParameter, !sent},
	{0x109, "ESME_RINVBCASTAREAFMT", "broadcast area format is invalid", sms.BadParameter, !sent},
	{0x10A, "ESME_RINVNUMBCAST_AREAS", "number of broadcast areas is invalid", sms.BadParameter, !sent},
	{0x10B, "ESME_RINVBCASTCNTTYPE", "broadcast content type is invalid", sms.BadParameter, !sent},
	{0x10C, "ESME_RINVBCASTMSGCLASS", "broadcast message class is invalid", sms.BadParameter, !sent},
	{0x10D, "ESME_RBCASTFAIL", "broadcast_sm failed", sms.Rejected, !sent},
	{0x10E, "ESME_RBCASTQUERYFAIL", "query_broadcast_sm failed", sms.Rejected, !sent},
	{0x10F, "ESME_RBCASTCANCELFAIL", "cancel_broadcast_sm failed", sms.Rejected, !sent},
	{0x110, "ESME_RINVBCAST_REP", "number of repeated broadcasts is invalid", sms.BadParameter, !sent},
	{0x111, "ESME_RINVBCASTSRVGRP", "broadcast service group is invalid", sms.BadParameter, !sent},
	{0x112, "ESME_RINVBCASTCHANIND", "broadcast channel indicator is invalid", sms.BadParameter, !sent},
}

// findStatus returns the row of a command_status, or nil if it is not assigned.
func findStatus(number uint32) *status {
	i, ok := slices.BinarySearchFunc(statuses[:], number, func(s status, n uint32) int { return cmp.Compare(s.number, n) })
	if !ok {
		return nil
	}
	return &statuses[i]
}

// StatusName returns the name of a command_status, and "" if it is not assigned.
func StatusName(number uint32) string {
	if s := findStatus(number); s != nil {
		return s.name
	}
	return ""
}

// Meaning returns the meaning and the kind of a command_status.
func (d *Driver) Meaning(number uint32) string {
	if s := findStatus(number); s != nil && number != StatusOK {
		return s.text + "; " + s.code.Failure().String()
	}
	return ""
}

// Statuses returns every assigned command_status with its name, in order.
func (d *Driver) Statuses() iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		for i := range statuses {
			if !yield(statuses[i].number, statuses[i].name) {
				return
			}
		}
	}
}

// codeOf returns the code of a command_status. An unassigned status, which most often is an
// operator's own, is final, because nothing indicates that another attempt could succeed.
func codeOf(number uint32) sms.Code {
	if number == StatusOK {
		return sms.OK
	}
	if s := findStatus(number); s != nil {
		return s.code
	}
	return sms.Rejected
}

// statusOf returns the command_status for answering with a code. Codes for outcomes inside
// the gateway are never sent to a peer, and are a system error like other faults of ours.
func statusOf(code sms.Code) uint32 {
	switch code {
	case sms.OK:
		return StatusOK
	case sms.OptedOut:
		code = sms.Blocked // SMPP has no status for OptedOut
	case sms.NoCredit:
		code = sms.Throttled // SMPP has no status for NoCredit: the client slows down, and sends the message again
	case sms.NoPrice:
		code = sms.Rejected // SMPP has no status for NoPrice: the number is right, and the same message is refused again
	}
	for i := range statuses {
		if s := &statuses[i]; s.sent && s.code == code {
			return s.number
		}
	}
	return StatusSysErr
}

// CodeOf returns the code of a command_status in an answer to a message.
func (d *Driver) CodeOf(status uint32) sms.Code { return codeOf(status) }

// StatusOf returns the command_status that a message is refused with.
func (d *Driver) StatusOf(code sms.Code) uint32 { return statusOf(code) }
