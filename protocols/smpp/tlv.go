package smpp

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
)

// The optional parameters that the driver itself reads or writes.
const (
	tagDestSubunit  = 0x0005
	TagTimeToLive   = 0x0017
	TagReceiptedID  = 0x001E
	tagSourcePort   = 0x020A
	tagDestPort     = 0x020B
	tagSARReference = 0x020C
	tagSARTotal     = 0x020E
	tagSARNumber    = 0x020F
	TagVersion      = 0x0210
	TagNetworkError = 0x0423
	TagPayload      = 0x0424
	TagMessageState = 0x0427
	TagCongestion   = 0x0428
)

// tlvHeader is the size of a tag and a length.
const tlvHeader = 4

// maxTLV is the length of the longest value of an optional parameter.
const maxTLV = 0xFFFF

// A kind is the type of an optional parameter's value.
type kind uint8

const (
	octets  kind = iota // anything
	integer             // a number of a fixed size
	cstring             // text that ends with NUL; some peers omit the NUL or send two
)

// A parameter is one row of the table of optional parameters.
type parameter struct {
	tag  uint16
	name string
	kind kind

	// The shortest and the longest value in octets, including the NUL of a cstring. They
	// are the same for an integer.
	least, size int
}

// parameters lists the optional parameters (§5.3.2, and SMPP 5.0's) in order of tag.
// If the documents or peers differ, the lengths allow all variants.
var parameters = [...]parameter{
	{tagDestSubunit, "dest_addr_subunit", integer, 1, 1},
	{0x0006, "dest_network_type", integer, 1, 1},
	{0x0007, "dest_bearer_type", integer, 1, 1},
	{0x0008, "dest_telematics_id", integer, 2, 2},
	{0x000D, "source_addr_subunit", integer, 1, 1},
	{0x000E, "source_network_type", integer, 1, 1},
	{0x000F, "source_bearer_type", integer, 1, 1},
	{0x0010, "source_telematics_id", integer, 1, 1},
	{TagTimeToLive, "qos_time_to_live", integer, 4, 4},
	{0x0019, "payload_type", integer, 1, 1},
	{0x001D, "additional_status_info_text", cstring, 1, 256},
	{TagReceiptedID, "receipted_message_id", cstring, 1, 65},
	{0x0030, "ms_msg_wait_facilities", integer, 1, 1},
	{0x0201, "privacy_indicator", integer, 1, 1},
	{0x0202, "source_subaddress", octets, 2, 23},
	{0x0203, "dest_subaddress", octets, 2, 23},
	{0x0204, "user_message_reference", integer, 2, 2},
	{0x0205, "user_response_code", integer, 1, 1},
	{tagSourcePort, "source_port", integer, 2, 2},
	{tagDestPort, "destination_port", integer, 2, 2},
	{tagSARReference, "sar_msg_ref_num", integer, 2, 2},
	{0x020D, "language_indicator", integer, 1, 1},
	{tagSARTotal, "sar_total_segments", integer, 1, 1},
	{tagSARNumber, "sar_segment_seqnum", integer, 1, 1},
	{TagVersion, "sc_interface_version", integer, 1, 1},
	{0x0302, "callback_num_pres_ind", integer, 1, 1},
	{0x0303, "callback_num_atag", octets, 0, 65},
	{0x0304, "number_of_messages", integer, 1, 1},
	{0x0381, "callback_num", octets, 4, 19},
	{0x0420, "dpf_result", integer, 1, 1},
	{0x0421, "set_dpf", integer, 1, 1},
	{0x0422, "ms_availability_status", integer, 1, 1},
	{TagNetworkError, "network_error_code", octets, 3, 3},
	{TagPayload, "message_payload", octets, 0, maxTLV},
	{0x0425, "delivery_failure_reason", integer, 1, 1},
	{0x0426, "more_messages_to_send", integer, 1, 1},
	{TagMessageState, "message_state", integer, 1, 1},
	{TagCongestion, "congestion_state", integer, 1, 1},
	{0x0501, "ussd_service_op", integer, 1, 1},
	{0x0600, "broadcast_channel_indicator", integer, 1, 1},
	{0x0601, "broadcast_content_type", octets, 3, 3},
	{0x0602, "broadcast_content_type_info", octets, 1, 255},
	{0x0603, "broadcast_message_class", integer, 1, 1},
	{0x0604, "broadcast_rep_num", integer, 2, 2},
	{0x0605, "broadcast_frequency_interval", octets, 3, 3},
	{0x0606, "broadcast_area_identifier", octets, 0, maxTLV},
	{0x0607, "broadcast_error_status", integer, 4, 4},
	{0x0608, "broadcast_area_success", integer, 1, 1},
	{0x0609, "broadcast_end_time", cstring, 17, 17},
	{0x060A, "broadcast_service_group", octets, 1, 255},
	{0x060B, "billing_identification", octets, 1, 1024},
	{0x060D, "source_network_id", cstring, 7, 65},
	{0x060E, "dest_network_id", cstring, 7, 65},
	{0x060F, "source_node_id", octets, 5, 6},
	{0x0610, "dest_node_id", octets, 5, 6},
	{0x0611, "dest_addr_np_resolution", integer, 1, 1},
	{0x0612, "dest_addr_np_information", octets, 10, 10},
	{0x0613, "dest_addr_np_country", octets, 1, 5},
	{0x1201, "display_time", integer, 1, 1},
	{0x1203, "sms_signal", integer, 2, 2},
	{0x1204, "ms_validity", octets, 1, 4},
	{0x130C, "alert_on_message_delivery", octets, 0, 1},
	{0x1380, "its_reply_type", integer, 1, 1},
	{0x1383, "its_session_info", integer, 2, 2},
}

// fits reports whether the length of a value is allowed.
func (p *parameter) fits(value []byte) bool {
	n := len(value)
	if p.kind == cstring {
		n = len(bytes.TrimRight(value, "\x00")) + 1
	}
	return n >= p.least && n <= p.size
}

// badTLV returns the status with which a client's message must be refused because of its
// optional parameters, or StatusOK. Messages from an SMSC are not refused for these, because
// they would be lost.
func badTLV(tlvs []byte) uint32 {
	payloads := 0
	for tag, value := range TLVs(tlvs) {
		if p := findTag(tag); p != nil && !p.fits(value) {
			return StatusInvParLen
		}
		if tag == TagPayload {
			payloads++
		}
	}
	if payloads > 1 { // only one message_payload could be forwarded
		return StatusInvOptParamVal
	}
	return StatusOK
}

// findTag returns the row of a tag, or nil if the tag is not assigned.
func findTag(tag uint16) *parameter {
	i := indexOfTag(tag)
	if i < 0 {
		return nil
	}
	return &parameters[i]
}

// indexOfTag returns the number of the row of a tag, or -1 if the tag is not assigned.
func indexOfTag(tag uint16) int {
	i, ok := slices.BinarySearchFunc(parameters[:], tag, func(p parameter, t uint16) int { return cmp.Compare(p.tag, t) })
	if !ok {
		return -1
	}
	return i
}

// findParameter returns the row with that name, or nil if there is none.
func findParameter(name []byte) *parameter {
	for i := range parameters {
		if parameters[i].name == string(name) {
			return &parameters[i]
		}
	}
	return nil
}

// TLVs iterates over the optional parameters in b (§3.2.4). Decoding has checked those of a
// PDU. It stops at a parameter that is cut off.
func TLVs(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= tlvHeader {
			tag, n := binary.BigEndian.Uint16(b), int(binary.BigEndian.Uint16(b[2:]))
			if b = b[tlvHeader:]; n > len(b) || !yield(tag, b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// FindTLV returns the first value with that tag.
func FindTLV(b []byte, tag uint16) (value []byte, ok bool) {
	for t, v := range TLVs(b) {
		if t == tag {
			return v, true
		}
	}
	return nil, false
}

// AppendTLV appends an optional parameter, whose value has at most 65535 octets.
func AppendTLV(b []byte, tag uint16, value []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, tag)
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	return append(b, value...)
}

// wholeTLVs returns how many octets at the beginning of b are whole optional parameters.
func wholeTLVs(b []byte) (whole int) {
	for len(b)-whole >= tlvHeader {
		n := tlvHeader + int(binary.BigEndian.Uint16(b[whole+2:]))
		if n > len(b)-whole {
			break
		}
		whole += n
	}
	return whole
}
