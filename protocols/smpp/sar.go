package smpp

import "encoding/binary"

// PartOf implements protocols.PartReader, by the optional parameters of segmentation and
// reassembly.
func (d *Driver) PartOf(native []byte) (reference uint16, ok bool) {
	if len(native) < nativeHead || len(native) < nativeHead+int(native[5]) {
		return 0, false
	}
	params := native[nativeHead+int(native[5]):]
	if len(params) == 0 || !hasTLVs(params, tagSARTotal, tagSARNumber) {
		return 0, false
	}
	v, _ := FindTLV(params, tagSARReference)
	if len(v) != 2 {
		return 0, false
	}
	return binary.BigEndian.Uint16(v), true
}
