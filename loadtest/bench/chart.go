package bench

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A chart shows a metric over connections, with a line for each architecture and load.
type chart struct {
	Name    string // of its file, without extension
	Title   string
	Caption string // the figure of the report that it corresponds to, or ""
	metric  Metric
	unit    float64 // of the axis, in the metric's
	log     bool    // the axis is logarithmic
	lines   []line
}

// A line selects points that differ only in the number of connections.
type line struct {
	architecture, logs string
	window             int
	second             bool // the second of its architecture in the chart
}

// charts returns the charts: those of the report's two extremes, and those with the pdu
// log, which a gateway in service has.
func charts() (all []chart) {
	for _, set := range []struct {
		prefix, title string
		figures       bool
		lines         []line
	}{
		{"", "", true, []line{
			{Pipeline, LogsNothing, 10, false}, {Classic, LogsNothing, 10, false},
			{Pipeline, LogsAll, 1, true}, {Classic, LogsAll, 1, true}}},
		{"pdulog-", ", with pdu log", false, []line{
			{Pipeline, LogsPDUs, 10, false}, {Classic, LogsPDUs, 10, false},
			{Pipeline, LogsPDUs, 1, true}, {Classic, LogsPDUs, 1, true}}},
	} {
		for _, c := range []chart{
			{"throughput", "Messages a second", "Fig 3.1", Throughput, 1, false, nil},
			{"per-load", "Messages a second by CPU load", "Fig 3.2", PerLoad, 1, false, nil},
			{"per-usage", "Messages a second by CPU usage", "Fig 3.3", PerUsage, 1, false, nil},
			{"latency-p50", "Latency of answers, median, ms", "", P50, 1000, true, nil},
			{"latency-p99", "Latency of answers, 99th percentile, ms", "", P99, 1000, true, nil},
			{"memory", "Peak memory, MiB", "", Memory, 1, false, nil},
		} {
			c.Name, c.Title, c.lines = set.prefix+c.Name, c.Title+set.title, set.lines
			if !set.figures {
				c.Caption = ""
			}
			all = append(all, c)
		}
	}
	return all
}

// label returns the name of a line in the legend, in the terms of the report.
func (l line) label() string {
	level := map[string]string{LogsNothing: "info", LogsPDUs: "pdu log", LogsAll: "debug"}[l.logs]
	return fmt.Sprintf("%s, %s w%d", l.architecture, level, l.window)
}

// xys returns the line's points: medians by number of connections.
func (c *chart) xys(l line, points []Point) (xys plotter.XYs) {
	for i := range points {
		p := &points[i]
		if len(p.Samples) > 0 && (Setting{l.architecture, l.logs, p.Connections, l.window, "", ""}) == p.Setting {
			if y := p.Median()[c.metric] / c.unit; y > 0 || !c.log {
				xys = append(xys, plotter.XY{X: float64(p.Connections), Y: y})
			}
		}
	}
	slices.SortFunc(xys, func(a, b plotter.XY) int { return int(a.X - b.X) })
	return xys
}

// measured reports whether there is a point to draw.
func (c *chart) measured(points []Point) bool {
	return slices.ContainsFunc(c.lines, func(l line) bool { return len(c.xys(l, points)) > 0 })
}

// Sizes and colours.
const (
	chartWidth  = 6 * vg.Inch
	chartHeight = 3.7 * vg.Inch
)

func (l line) color() color.Color {
	if l.architecture == Pipeline {
		return color.RGBA{R: 0x1b, G: 0x62, B: 0xa8, A: 0xff}
	}
	return color.RGBA{R: 0xd9, G: 0x6b, B: 0x0c, A: 0xff}
}

// draw returns the chart as svg or png. At least one point must have been measured.
func (c *chart) draw(points []Point, format string) ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.Title.Padding = c.Title, vg.Points(8)
	p.X.Label.Text = "connections"
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font.Variant = "Sans"
	}
	p.Legend.TextStyle.Font.Size = vg.Points(10)
	p.X.Scale, p.X.Min, p.X.Max = plot.LogScale{}, math.Inf(1), math.Inf(-1)
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2)
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(6), -vg.Points(2)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 0xe4}, color.Gray{Y: 0xe4}
	p.Add(grid)

	var ticks plot.ConstantTicks
	for _, l := range c.lines {
		xys := c.xys(l, points)
		if len(xys) == 0 {
			continue
		}
		if err := l.addTo(p, xys); err != nil {
			return nil, fmt.Errorf("cannot draw %s: %w", c.Name, err)
		}
		for _, xy := range xys {
			tick := plot.Tick{Value: xy.X, Label: strconv.Itoa(int(xy.X))}
			if !slices.Contains(ticks, tick) {
				ticks = append(ticks, tick)
			}
		}
	}
	p.X.Tick.Marker = ticks
	if p.X.Min == p.X.Max { // a logarithmic axis needs a range
		p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	}
	c.scaleY(p)
	w, err := p.WriterTo(chartWidth, chartHeight, format)
	if err != nil {
		return nil, fmt.Errorf("cannot draw %s: %w", c.Name, err)
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("cannot draw %s: %w", c.Name, err)
	}
	return b.Bytes(), nil
}

func (l line) addTo(p *plot.Plot, xys plotter.XYs) error {
	drawn, marks, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	drawn.Color, drawn.Width = l.color(), vg.Points(1.8)
	marks.Color, marks.Radius, marks.Shape = l.color(), vg.Points(3), draw.CircleGlyph{}
	if l.second {
		drawn.Dashes = []vg.Length{vg.Points(6), vg.Points(3)}
		marks.Shape = draw.PyramidGlyph{}
	}
	p.Add(drawn, marks)
	p.Legend.Add(l.label(), drawn, marks)
	return nil
}

// legendRoom is the part of the height that is reserved for the legend.
const legendRoom = 0.35

// scaleY sets the range of the axis. It begins at 0, or at a power of ten if the axis is
// logarithmic, and ends above the legend.
func (c *chart) scaleY(p *plot.Plot) {
	if c.log {
		p.Y.Min = math.Pow(10, math.Floor(math.Log10(p.Y.Min)))
		p.Y.Max = max(p.Y.Max, 10*p.Y.Min)
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, legendRoom)
		p.Y.Scale = plot.LogScale{}
		p.Y.Tick.Marker = shortTicks{plot.LogTicks{Prec: -1}}
		return
	}
	p.Y.Min, p.Y.Max = 0, p.Y.Max*(1+legendRoom)
	p.Y.Tick.Marker = shortTicks{plot.DefaultTicks{}}
}

// shortTicks labels the ticks of another ticker with 250k instead of 250000.
type shortTicks struct{ plot.Ticker }

// Ticks implements plot.Ticker.
func (s shortTicks) Ticks(lowest, highest float64) []plot.Tick {
	ticks := s.Ticker.Ticks(lowest, highest)
	for i, t := range ticks {
		if t.Label == "" {
			continue
		}
		ticks[i].Label = strconv.FormatFloat(t.Value, 'g', 4, 64)
		if t.Value >= 1000 {
			ticks[i].Label = strconv.FormatFloat(t.Value/1000, 'f', -1, 64) + "k"
		}
	}
	return ticks
}
