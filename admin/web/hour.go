package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"time"

	"pmg/admin/history"
	"pmg/internal/figuretext"
)

// An hour is a page's view of the last hour: charts, which a script draws, and a table for readers without scripts.
type hour struct {
	Of, Name string // kind and name, such as connector and the connector's name; an empty name: the whole gateway
	Heads    []string
	Rows     []hourRow // the latest first
	Latest   string    // the last sample as JSON, which the script appends to its samples

	last history.Sample
}

// An hourRow is the summary of the samples of a few minutes.
type hourRow struct {
	From  string
	Cells []string
}

// step is the period of a row, and steps the maximum number of rows. Rows begin at minutes that are multiples of step.
const (
	step  = 5 * time.Minute
	steps = int(time.Hour / step)
)

// A tableColumn is a column of the table, and the function that makes its value from the samples of a row: mean or maximum.
type tableColumn struct {
	head    string
	figure  int
	highest bool
	text    func(float32) string
}

// tableColumns returns the columns of the table of a connector, or of an account.
func tableColumns(of string) []tableColumn {
	if of == history.OfAccounts {
		return []tableColumn{
			{"in /s", history.In, false, number}, {"out /s", history.Out, false, number},
			{"refused /s", history.Refused, false, number}, {"queued, highest", history.Waiting, true, number},
		}
	}
	return []tableColumn{
		{"in /s", history.In, false, number}, {"out /s", history.Out, false, number}, {
			"receipts /s", history.Receipts, false, number,
		}, {"refused /s", history.Refused, false, number},
		{
			"waiting, highest", history.Waiting, true, number,
		}, {"oldest, highest", history.Oldest, true, func(v float32) string { return figuretext.Age(float64(v)) }},
		{"median answer, highest", history.Median, true, duration}, {"95 % of answers, highest", history.P95, true, duration},
	}
}

// octets returns the latest value of a figure in octets, as text.
func (h *hour) octets(figure int) string {
	if h == nil || math.IsNaN(float64(h.last[figure])) {
		return "–"
	}
	return fmt.Sprintf("%.0f MiB", h.last[figure]/(1<<20))
}

// Query returns the query for the samples of the page.
func (h *hour) Query() string {
	if h.Name == "" {
		return ""
	}
	return "?" + url.Values{h.Of: {h.Name}}.Encode()
}

// hourOf returns the last hour of a connector or of an account, or of the whole gateway. It returns nil if there are no samples.
func hourOf(recorder *history.Recorder, name string) *hour {
	series := recorder.Series(name)
	if series == nil {
		return nil
	}
	h := &hour{Of: recorder.Of(), Name: name, last: series.Latest()}
	columns := tableColumns(h.Of)
	for _, c := range columns {
		h.Heads = append(h.Heads, c.head)
	}
	for end := len(series.Samples); end > 0 && len(h.Rows) < steps; {
		from := series.Times[end-1] - series.Times[end-1]%int64(step.Seconds())
		begin := end - 1
		for begin > 0 && series.Times[begin-1] >= from {
			begin--
		}
		h.Rows = append(h.Rows, rowOf(from, series.Samples[begin:end], columns))
		end = begin
	}
	if n := len(series.Samples); n > 0 {
		latest := history.Series{Of: h.Of, Name: name, Times: series.Times[n-1:], Samples: series.Samples[n-1:]}
		if text, err := json.Marshal(&latest); err == nil {
			h.Latest = string(text)
		}
	}
	return h
}

// rate writes the latest value of a figure that is a rate.
func (h *hour) rate(figure int) string {
	if h == nil {
		return "–"
	}
	return number(h.last[figure])
}

// rowOf returns the row of samples that begin at a time.
func rowOf(from int64, samples []history.Sample, columns []tableColumn) hourRow {
	row := hourRow{From: time.Unix(from, 0).UTC().Format("15:04")}
	for _, c := range columns {
		var sum, highest, known float32
		for i := range samples {
			if samples[i].Known(c.figure) {
				sum, highest, known = sum+samples[i][c.figure], max(highest, samples[i][c.figure]), known+1
			}
		}
		value := sum / known // NaN if none is known
		if c.highest && known > 0 {
			value = highest
		}
		row.Cells = append(row.Cells, c.text(value))
	}
	return row
}

// number writes a number, with a decimal if it is small.
func number(v float32) string {
	switch {
	case v != v:
		return "–"
	case v < 10:
		return strconv.FormatFloat(math.Round(float64(v)*10)/10, 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Round(float64(v)), 'f', 0, 64)
}

// duration writes a number of seconds, in milliseconds if it is small.
func duration(v float32) string {
	switch {
	case v != v:
		return "–"
	case v < 1:
		return fmt.Sprintf("%.3g ms", v*1000)
	}
	return fmt.Sprintf("%.3g s", v)
}
