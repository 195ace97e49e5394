package stages

import "testing"

// The constants for the rows are their places in the table.
func TestRows(t *testing.T) {
	rows := map[int]string{
		toListener: "listener", toReader: "reader", toCipher: "cipher", toParser: "parser", toPDULogger: "pdu logger", toBuilder: "builder",
		toPersister: "persister", toDispatcher: "dispatcher", toConnecter: "connecter", toEncoder: "encoder", toPDUBuilder: "pdu builder", toWriter: "writer",
	}
	table := Table()
	if len(table) != len(rows) {
		t.Fatalf("%d stages", len(table))
	}
	for i, s := range table {
		if rows[i] != s.Name {
			t.Errorf("row %d is %s, not %s", i, s.Name, rows[i])
		}
	}
}
