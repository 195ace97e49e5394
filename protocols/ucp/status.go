package ucp

import (
	"iter"

	"pmg/sms"
)

// The error codes that the driver itself uses in answers.
const (
	ecChecksum       = 1
	ecSyntax         = 2
	ecNotSupported   = 3
	ecNotAllowed     = 4
	ecAdC            = 6
	ecAuthentication = 7
	ecGA             = 9
	ecRepetition     = 10
	ecPriority       = 12
	ecUrgent         = 14
	ecReverse        = 16
	ecDeferred       = 18
	ecPeriod         = 22
	ecMessageType    = 23
	ecTooLong        = 24
)

// sent marks the row whose error code is the answer for a sms.Code.
const sent = true

// A status is one row of the table of error codes.
type status struct {
	number uint8
	name   string
	code   sms.Code // the gateway's code for the error
	sent   bool     // the error is the answer for the code
}

// statuses lists the error codes (EC) in order. 04 is used for all temporary errors, because UCP has no other.
var statuses = [...]status{
	{ecChecksum, "checksum_error", sms.SystemError, !sent},
	{ecSyntax, "syntax_error", sms.Malformed, sent},
	{ecNotSupported, "operation_not_supported", sms.Unsupported, sent},
	{ecNotAllowed, "operation_not_allowed", sms.TemporaryFailure, sent},
	{5, "call_barring_active", sms.Blocked, sent},
	{ecAdC, "adc_invalid", sms.BadDestination, sent},
	{ecAuthentication, "authentication_failure", sms.BindFailed, sent},
	{8, "legitimisation_code_all_calls", sms.Rejected, !sent},
	{ecGA, "ga_not_valid", sms.BadParameter, !sent},
	{ecRepetition, "repetition_not_allowed", sms.BadParameter, !sent},
	{11, "legitimisation_code_repetition", sms.Rejected, !sent},
	{ecPriority, "priority_call_not_allowed", sms.BadParameter, !sent},
	{13, "legitimisation_code_priority", sms.Rejected, !sent},
	{ecUrgent, "urgent_message_not_allowed", sms.BadParameter, !sent},
	{15, "legitimisation_code_urgent", sms.Rejected, !sent},
	{ecReverse, "reverse_charging_not_allowed", sms.BadParameter, !sent},
	{17, "legitimisation_code_reverse_charging", sms.Rejected, !sent},
	{ecDeferred, "deferred_delivery_not_allowed", sms.BadSchedule, sent},
	{19, "new_ac_not_valid", sms.BindFailed, !sent},
	{20, "new_legitimisation_code_not_valid", sms.Rejected, !sent},
	{21, "standard_text_not_valid", sms.BadParameter, !sent},
	{ecPeriod, "time_period_not_valid", sms.BadValidity, sent},
	{ecMessageType, "message_type_not_supported", sms.Rejected, sent},
	{ecTooLong, "message_too_long", sms.BadLength, sent},
	{25, "requested_standard_text_not_valid", sms.BadParameter, !sent},
	{26, "message_type_not_valid_for_pager", sms.Rejected, !sent},
	{27, "message_not_found", sms.UnknownMessage, sent},
	{28, "invalid_character_set", sms.BadParameter, !sent},
	{30, "subscriber_hang_up", sms.TemporaryFailure, !sent},
	{31, "fax_group_not_supported", sms.Rejected, !sent},
	{32, "fax_message_type_not_supported", sms.Rejected, !sent},
	{33, "address_already_in_list", sms.Rejected, !sent},
	{34, "address_not_in_list", sms.Rejected, !sent},
	{35, "list_full", sms.Rejected, !sent},
	{36, "rpid_already_in_use", sms.Rejected, !sent},
	{37, "delivery_in_progress", sms.Rejected, !sent},
	{38, "message_forwarded", sms.Rejected, !sent},
	{50, "low_network_status", sms.TemporaryFailure, !sent},
	{51, "legitimisation_code_standard_text", sms.Rejected, !sent},
	{53, "partially_successful", sms.Rejected, !sent},
	{54, "not_successful", sms.Rejected, !sent},
	{55, "system_error", sms.SystemError, !sent},
	{57, "already_member_of_gadc_list", sms.Rejected, !sent},
	{58, "not_member_of_gadc_list", sms.Rejected, !sent},
	{59, "standard_text_list_invalid", sms.Rejected, !sent},
	{61, "not_controller_of_gadc_list", sms.Rejected, !sent},
	{62, "standard_text_too_large", sms.Rejected, !sent},
	{63, "not_owner_of_standard_text_list", sms.Rejected, !sent},
	{64, "address_list_full", sms.Rejected, !sent},
	{65, "gadc_invalid", sms.BadDestination, !sent},
	{66, "restricted_to_mobile_subscribers", sms.Rejected, !sent},
	{68, "invalid_adc_type", sms.BadDestination, !sent},
	{69, "cannot_add_to_gadc_list", sms.Rejected, !sent},
}

// ownCode returns a code that has a row, for a code that has none: UCP has fewer error codes.
func ownCode(code sms.Code) sms.Code {
	switch code {
	case sms.BadSource, sms.BadParameter:
		return sms.Malformed
	case sms.BadState, sms.AlreadyBound, sms.Throttled, sms.NoCredit, sms.QueueFull, sms.SystemError:
		return sms.TemporaryFailure
	case sms.OptedOut:
		return sms.Blocked
	case sms.NoPrice:
		return sms.Rejected
	}
	return code
}

// statusRows contains the row of each error code.
var statusRows = func() (r [100]*status) {
	for i := range statuses {
		r[statuses[i].number] = &statuses[i]
	}
	return r
}()

// findStatus returns the row of an error code, or nil if it is not assigned.
func findStatus(number uint32) *status {
	if number >= uint32(len(statusRows)) {
		return nil
	}
	return statusRows[number]
}

// StatusName returns the name of an error code, and "" if it is not assigned.
func StatusName(number uint32) string {
	if s := findStatus(number); s != nil {
		return s.name
	}
	return ""
}

// Meaning returns the kind of an error code, in addition to its name.
func (d *Driver) Meaning(number uint32) string {
	if s := findStatus(number); s != nil {
		return s.code.Failure().String()
	}
	return ""
}

// Statuses returns every assigned error code with its name, in order.
func (d *Driver) Statuses() iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		for i := range statuses {
			if !yield(uint32(statuses[i].number), statuses[i].name) {
				return
			}
		}
	}
}

// codeOf returns the code of an error code in an answer to a message. An unassigned error code, usually an operator's own, is
// final, because nothing indicates that another attempt could succeed.
func codeOf(ec uint8) sms.Code {
	if s := findStatus(uint32(ec)); s != nil {
		return s.code
	}
	return sms.Rejected
}

// ecOf returns the error code for an answer with a code other than sms.OK. Codes for internal outcomes have no error code:
// like all temporary errors of the gateway they become "not allowed", after which the client may try again.
func ecOf(code sms.Code) uint8 {
	code = ownCode(code)
	for i := range statuses {
		if s := &statuses[i]; s.sent && s.code == code {
			return s.number
		}
	}
	return ecNotAllowed
}

// CodeOf returns the code of an error code in an answer to a message.
func (d *Driver) CodeOf(status uint32) sms.Code { return codeOf(uint8(status)) }

// StatusOf returns the error code for a refused message.
func (d *Driver) StatusOf(code sms.Code) uint32 { return uint32(ecOf(code)) }
