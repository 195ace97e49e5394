package loadtest

import (
	"bytes"
	"strings"
	"testing"

	"pmg/protocols/smpp"
)

// readPDU reads a PDU as load and sink read one of its kind.
func readPDU(w wire, b []byte) {
	n, err := w.frame(b)
	if err != nil || n == 0 {
		return
	}
	pdu := b[:n]
	switch h := w.header(pdu); h.kind {
	case submitKind:
		var m submitted
		_ = w.submit(pdu, &m)
	case deliverKind:
		_, _ = w.delivery(pdu)
	case loginKind:
		_, _ = w.login(pdu)
	case submitAnswer:
		if h.status == 0 {
			_ = w.messageID(pdu)
		}
	}
}

// No PDU of a peer stops a load or a sink, wherever its fields end.
func TestCutPDUs(t *testing.T) {
	t.Parallel()
	o := DefaultLoadOptions()
	o.Coding, o.Parts = UCS2Coding, 2
	xser := "01FE" + strings.Repeat("00", 254) + "020108"
	for _, data := range []string{
		"A//4670:010203040506/", "N/04//", "/", "load/6/5/1/736563726574//0100//////",
		strings.Repeat("/", ucpMsg) + "41//////////" + xser + "///",
		string((&ucpWire{}).newTemplate(&o).append(nil, 1, 2)[ucpData:]),
	} {
		for _, ot := range []uint32{ucpAlert, ucpSubmit, ucpMO, ucpNotify, ucpLogin} {
			for end := range len(data) + 1 {
				for _, kind := range []byte{'O', 'R'} {
					f := beginUCP(nil, 1, kind, ot)
					f.b = append(f.b, data[:end]...)
					readPDU(&ucpWire{}, f.end())
				}
			}
		}
	}
	w := &smppWire{}
	for _, pdu := range [][]byte{
		w.newTemplate(&o).append(nil, 1, 2), w.appendLogin(nil, 1, &loginRequest{}),
		bytes.Clone(w.appendDelivery(nil, 1, &delivery{state: stateDelivered}, &ReceiptOptions{})),
		w.appendAccepted(nil, header{sequence: 1}, nil, messageID{id: 1}),
	} {
		for end := smpp.HeaderLen; end <= len(pdu); end++ {
			cut := bytes.Clone(pdu[:end])
			cut[2], cut[3] = byte(end>>8), byte(end)
			readPDU(w, cut)
		}
	}
}
