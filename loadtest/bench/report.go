package bench

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"time"
)

// WriteReport writes a page that contains its charts, and beside it the charts as PNG
// files and the results as JSON and CSV.
func (r *Results) WriteReport(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make directory of report: %w", err)
	}
	files := map[string][]byte{}
	var drawn []drawing
	for _, c := range charts() {
		if !c.measured(r.Points) {
			continue
		}
		png, err := c.draw(r.Points, "png")
		if err != nil {
			return err
		}
		svg, err := c.draw(r.Points, "svg")
		if err != nil {
			return err
		}
		files[c.Name+".png"] = png
		svg = svg[max(0, bytes.Index(svg, []byte("<svg"))):] // without the prologue of the XML document
		drawn = append(drawn, drawing{c, template.HTML(svg)})
	}
	var page, asJSON, asCSV bytes.Buffer
	if err := r.writePage(&page, drawn); err != nil {
		return err
	}
	if err := r.WriteJSON(&asJSON); err != nil {
		return fmt.Errorf("cannot write results: %w", err)
	}
	if err := r.WriteCSV(&asCSV); err != nil {
		return fmt.Errorf("cannot write results: %w", err)
	}
	files["index.html"], files["results.json"], files["results.csv"] = page.Bytes(), asJSON.Bytes(), asCSV.Bytes()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("cannot write report: %w", err)
		}
	}
	return nil
}

// A drawing is a chart as an image.
type drawing struct {
	chart
	SVG template.HTML
}

func (r *Results) writePage(b *bytes.Buffer, drawn []drawing) error {
	t := template.Must(template.New("").Parse(pageTemplate))
	err := t.Execute(b, map[string]any{
		"Results": r, "When": r.Began.Format(time.DateOnly), "Charts": drawn,
		"Findings": r.findings(),
		"Table41":  r.table41(),
		"Tables":   append([]titled{r.targets()}, r.tables()...),
		"Metrics":  metricInfos(),
	})
	if err != nil {
		return fmt.Errorf("cannot write report: %w", err)
	}
	return nil
}

// Head and Help return the texts of a metric for the page's list of columns.
func (m metricInfo) Head() string { return m.head }
func (m metricInfo) Help() string { return m.help }

func metricInfos() (all []metricInfo) {
	for _, m := range Metrics() {
		all = append(all, m.info())
	}
	return all
}

// table41 returns the report's Table 4.1 beside the figures of these results, without pdu
// log and with window 10.
func (r *Results) table41() grid {
	g := grid{Head: []string{"", "report, baseline", "report, pipeline", "here, classic", "here, pipeline"}}
	row := func(name, baseline, pipeline string, connections int, m Metric) {
		cells := []string{name, baseline, pipeline}
		for _, architecture := range []string{Classic, Pipeline} {
			cell := "–"
			if p := find(r.Points, Setting{architecture, LogsNothing, connections, 10, "", ""}); p != nil {
				cell = fmt.Sprintf(m.info().format, p.Median()[m])
			}
			cells = append(cells, cell)
		}
		g.Rows = append(g.Rows, cells)
	}
	row("2 connections: CPU load", "low", "low", 2, Load)
	row("2 connections: messages a second", "44900", "27100", 2, Throughput)
	row("64 connections: CPU load", "high (45)", "medium (5)", 64, Load)
	row("64 connections: messages a second", "46100", "40400", 64, Throughput)
	row("memory allocations per message", "15", "19", 64, Allocations)
	row("locks per message", "40", "35", 64, Locks)
	return g
}
