package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/loadtest"
)

// receiptFlags are the flags of the sink for receipts whose values have to be parsed.
type receiptFlags struct {
	delay, fail, format, session string
	idForm, receiptIDForm        string
}

func (r *receiptFlags) add(cmd *cobra.Command, o *loadtest.ReceiptOptions) {
	f := cmd.Flags()
	forms := strings.Join(loadtest.IDForms()[1:], ", ")
	f.StringVar(&r.delay, "receipt-delay", "0s", "`time` from the answer to the receipt, or the shortest and the longest one: 10ms-2s")
	f.StringVar(&r.fail, "receipt-fail", "0%", "`share` of messages that are not delivered, UNDELIV")
	f.StringVar(&r.format, "receipt-format", "both", "text, tlv (receipted_message_id and message_state) or both")
	f.StringVar(&r.idForm, "id-form", "hex", "how answers have message ids: "+forms)
	f.StringVar(&r.receiptIDForm, "receipt-id-form", "same", "how receipts have message ids: same, "+forms)
	f.BoolVar(&o.First, "receipt-first", false, "send the receipt before the answer to the submit")
	f.StringVar(&r.session, "receipt-session", "same", "same, or other: over another session of the client, if there is one")
}

// set parses the values.
func (r *receiptFlags) set(o *loadtest.ReceiptOptions) (err error) {
	shortest, longest, isRange := strings.Cut(r.delay, "-")
	if o.Delay, err = time.ParseDuration(shortest); err == nil && isRange {
		o.DelayMax, err = time.ParseDuration(longest)
	}
	if err != nil {
		return fmt.Errorf("cannot delay receipts by %q: use a time, or two: 10ms-2s", r.delay)
	}
	percent, isPercent := strings.CutSuffix(r.fail, "%")
	if o.Fail, err = strconv.ParseFloat(percent, 64); err != nil {
		return fmt.Errorf("cannot fail %q of the messages: use a share like 5%%", r.fail)
	}
	if isPercent {
		o.Fail /= 100
	}
	if o.Format, err = loadtest.ParseReceiptFormat(r.format); err != nil {
		return err
	}
	if o.IDForm, err = loadtest.ParseIDForm(r.idForm); err != nil {
		return err
	}
	if o.ReceiptIDForm, err = loadtest.ParseIDForm(r.receiptIDForm); err != nil {
		return err
	}
	if r.session != "same" && r.session != "other" {
		return fmt.Errorf("cannot send receipts over session %q: use same or other", r.session)
	}
	o.OtherSession = r.session == "other"
	return nil
}
