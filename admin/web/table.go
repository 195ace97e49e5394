package web

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A table is the model of a page with rows. The page shows a part of the rows.
type table[T any] struct {
	Rows   []T
	Heads  []string // heads of further columns
	Zero   []string // heads of the columns that are 0 in all rows, and hidden
	Filter string
	Sort   string // head of the column that the rows are sorted by, after "-" if in reverse
	Number int    // number of the page, from 1
	Of     int
	Total  int

	sorts map[string]bool // columns by which rows may be sorted; true: the column contains numbers
}

// A column is a column by which the rows of a table may be sorted: numbers in descending order, texts in ascending order.
type column[T any] struct {
	head   string
	number func(*T) float64
	text   func(*T) string
}

// compare compares two rows.
func (c *column[T]) compare(a, b *T) int {
	if c.number != nil {
		return cmp.Compare(c.number(b), c.number(a))
	}
	return cmp.Compare(c.text(a), c.text(b))
}

// most is the maximum number of rows on a page.
const most = 100

// tableOf returns the rows that a request selects: the rows of ?page= whose name contains ?filter=, sorted by ?sort=.
func tableOf[T any](r *http.Request, all []T, name func(*T) string, columns ...column[T]) *table[T] {
	query := r.URL.Query()
	t := &table[T]{Filter: strings.ToLower(query.Get("filter")), sorts: map[string]bool{}}
	if t.Filter != "" {
		all = slices.DeleteFunc(all, func(row T) bool { return !strings.Contains(strings.ToLower(name(&row)), t.Filter) })
	}
	by, back := strings.CutPrefix(query.Get("sort"), "-")
	for i := range columns {
		c := &columns[i]
		t.sorts[c.head] = c.number != nil
		if c.head != by {
			continue
		}
		t.Sort = query.Get("sort")
		slices.SortStableFunc(all, func(a, b T) int {
			if back {
				return c.compare(&b, &a)
			}
			return c.compare(&a, &b)
		})
	}
	t.Total = len(all)
	t.Of = max(1, (len(all)+most-1)/most)
	number, _ := strconv.Atoi(query.Get("page"))
	t.Number = min(max(number, 1), t.Of)
	t.Rows = all[(t.Number-1)*most : min(t.Number*most, len(all))]
	return t
}

// with adds the heads of further columns.
func (t *table[T]) with(heads, zero []string) *table[T] {
	t.Heads, t.Zero = heads, zero
	return t
}

// Before returns the number of the previous page, 0 if there is none.
func (t *table[T]) Before() int { return t.Number - 1 }

// After returns the number of the next page, 0 if there is none.
func (t *table[T]) After() int {
	if t.Number == t.Of {
		return 0
	}
	return t.Number + 1
}

// query returns the query of the table with a page and an order.
func (t *table[T]) query(page int, sort string) string {
	v := url.Values{}
	if page > 1 {
		v.Set("page", strconv.Itoa(page))
	}
	for name, value := range map[string]string{"filter": t.Filter, "sort": sort} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return "?" + v.Encode()
}

// PageLink returns the query of another page of the table.
func (t *table[T]) PageLink(page int) string { return t.query(page, t.Sort) }

// headOf returns the parts of a column's head: the link that sorts the rows, "" if the rows cannot be sorted
// by the column; the present order; and whether the column has numbers.
func (t *table[T]) headOf(head string) (link, order string, numeric bool) {
	numeric, known := t.sorts[head]
	if !known {
		return "", "", false
	}
	orders := [2]string{"ascending", "descending"}
	if numeric {
		slices.Reverse(orders[:])
	}
	switch t.Sort {
	case head:
		return t.query(1, "-"+head), orders[0], numeric
	case "-" + head:
		return t.query(1, head), orders[1], numeric
	}
	return t.query(1, head), "", numeric
}

// Head writes the head of a column, with a link that sorts the table by the column if possible.
func (v *view) Head(head string) template.HTML { return v.head(head, false) }

// NumberHead writes the head of a column of numbers in tables without sorting.
func (v *view) NumberHead(head string) template.HTML { return v.head(head, true) }

func (v *view) head(head string, isNumeric bool) template.HTML {
	sorted, ok := v.Model.(interface {
		headOf(head string) (link, order string, numeric bool)
	})
	text, attributes := template.HTMLEscapeString(head), ""
	var link, order string
	if ok {
		var sortsNumbers bool
		link, order, sortsNumbers = sorted.headOf(head)
		isNumeric = isNumeric || sortsNumbers
	}
	if isNumeric {
		attributes = ` class="n"`
	}
	if order != "" {
		attributes += ` aria-sort="` + order + `"`
	}
	if link != "" {
		text = `<a href="` + template.HTMLEscapeString(link) + `">` + text + `</a>`
	}
	return template.HTML(`<th scope="col"` + attributes + `>` + text + `</th>`)
}
