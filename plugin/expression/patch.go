package expression

import (
	"errors"
	"reflect"
	"regexp/syntax"
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"pmg/plugin"
)

// An environment has the variables of expressions: the message, and the meter as $env, for the nodes of patch.
type environment struct {
	*plugin.Message
	meter meter
}

// A program is an expression that charges for its steps.
type program struct {
	*vm.Program
	fixed int // steps that do not depend on the message
	texts int // number of reads of the message's text that are known before the run
}

// steps returns the steps that are charged before the run, for a message.
func (p *program) steps(m *plugin.Message) int { return p.fixed + p.texts*len(m.Text)/perStep }

// compile compiles an expression like expr.Compile, and adds nodes that charge for steps. These are added after the
// type check and the optimizer, which do not know them.
func compile(source string, options ...expr.Option) (program, error) {
	c := conf.CreateNew()
	for _, o := range options {
		o(c)
	}
	c.Check()
	tree, err := checker.ParseCheck(source, c)
	if err != nil {
		return program{}, err
	}
	if err := optimizer.Optimize(&tree.Node, c); err != nil {
		return program{}, err
	}
	p := patch{fields: fields(), inLoop: map[ast.Node]bool{}}
	if ast.Walk(&tree.Node, visit(p.find)); p.reserved {
		return program{}, errors.New("unknown name " + environmentName)
	}
	p.program.fixed = weightOfNodes(&tree.Node)
	ast.Walk(&tree.Node, visit(p.node))
	return p.compile(tree, c)
}

func (p *patch) compile(tree *parser.Tree, c *conf.Config) (_ program, err error) {
	p.program.Program, err = compiler.Compile(tree, c)
	return p.program, err
}

// A visit is called with each node, after the nodes within it.
type visit func(*ast.Node)

func (v visit) Visit(n *ast.Node) { v(n) }

// A patch adds nodes that charge for steps to an expression. Work on message fields and constants outside loops is charged
// once before the run, because it is known then. Most expressions have no other work, and are as fast as without a patch.
type patch struct {
	program  program
	fields   map[string]bool
	inLoop   map[ast.Node]bool
	reserved bool // the expression uses a name that is reserved for nodes of the patch
}

// environmentName is the name of the environment in expressions.
const environmentName = "$env"

// find records the nodes that are within loops.
func (p *patch) find(n *ast.Node) {
	mark := visit(func(n *ast.Node) { p.inLoop[*n] = true })
	switch b := (*n).(type) {
	case *ast.IdentifierNode:
		p.reserved = p.reserved || b.Value == environmentName
	case *ast.PredicateNode:
		ast.Walk(&b.Node, mark)
	case *ast.BuiltinNode:
		ast.Walk(&b.Map, mark)
	}
}

// weightOfNodes returns the steps of an expression's nodes, without those for their values.
func weightOfNodes(n *ast.Node) (steps int) {
	ast.Walk(n, visit(func(n *ast.Node) {
		switch n := (*n).(type) {
		case *ast.CallNode:
			if steps += 100; isZoneUnknown(n) {
				steps += readZone
			}
		case *ast.BuiltinNode:
			steps += 20
		case *ast.StringNode:
			steps += 2 + len(n.Value)/perStep
		default:
			steps += 2
		}
	}))
	return steps
}

// fields are the names of the message's fields.
func fields() map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[plugin.Message]()) {
		names[f.Tag.Get("expr")] = true
	}
	return names
}

// isZoneUnknown reports whether the time zone in a call is known only at the run.
func isZoneUnknown(n *ast.CallNode) bool {
	name, _ := n.Callee.(*ast.IdentifierNode)
	if name == nil || name.Value != "local" && name.Value != "between" || len(n.Arguments) == 0 {
		return false
	}
	_, known := n.Arguments[len(n.Arguments)-1].(*ast.StringNode)
	return !known
}

// shortField is the maximum length in octets, almost always, of message fields other than the text.
const shortField = 64

// reads returns how often an expression reads the message's text, and other fields of the message, at most. ok is
// false if there is no known maximum.
func (p *patch) reads(n ast.Node) (texts, others int, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NilNode, *ast.ConstantNode:
		return 0, 0, true
	case *ast.IdentifierNode:
		if n.Value == "text" {
			return 1, 0, true
		}
		return 0, 1, p.fields[n.Value]
	case *ast.BinaryNode:
		if n.Operator == "+" {
			texts, others, ok = p.reads(n.Left)
			t, o, same := p.reads(n.Right)
			return texts + t, others + o, ok && same
		}
	}
	return 0, 0, false
}

// node patches a node.
func (p *patch) node(at *ast.Node) {
	switch n := (*at).(type) {
	case *ast.BinaryNode:
		p.binary(at, n)
	case *ast.CallNode:
		for i := range n.Arguments {
			p.charge(1, &n.Arguments[i])
		}
	case *ast.SliceNode:
		p.charge(1, &n.Node)
	case *ast.BuiltinNode:
		p.builtin(at, n)
	}
}

// charge adds nodes that charge for the octets of values when a node uses them, or counts them as charged before the run.
func (p *patch) charge(weight int, values ...*ast.Node) {
	for _, v := range values {
		if isScalar(*v) {
			continue
		}
		texts, others, ok := p.reads(*v)
		if ok && (!p.inLoop[*v] || texts+others == 0) {
			p.program.texts += texts * weight
			p.program.fixed += others * shortField / perStep * weight
			continue
		}
		p.replace(v, "(weigh)", *v, &ast.IntegerNode{Value: weight})
	}
}

// isScalar reports whether a value is certainly a number, a boolean or a time.
func isScalar(n ast.Node) bool {
	switch t := n.Type(); t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64, reflect.Struct:
		return true
	}
	return false
}

func (p *patch) binary(at *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "+", "==", "!=", "<", ">", "<=", ">=", "in", "contains", "startsWith", "endsWith":
		p.charge(1, &n.Left, &n.Right)
	case "matches":
		p.matches(n)
	case "..": // the patch replaces it: the machine has limited its size before
		p.replace(at, "(weigh)", n, &ast.IntegerNode{Value: 1})
	}
}

// anyPattern is the assumed number of instructions of a pattern that is known only at the run.
const anyPattern = 1000

func (p *patch) matches(n *ast.BinaryNode) {
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		p.charge(perStep*anyPattern, &n.Left, &n.Right)
		return
	}
	weight := perStep * anyPattern
	if parsed, err := syntax.Parse(pattern.Value, syntax.Perl); err == nil {
		if prog, err := syntax.Compile(parsed.Simplify()); err == nil {
			weight = perStep / 2 * len(prog.Inst)
		}
	}
	p.charge(weight, &n.Left)
}

// builtin patches a call of a library function. The body of a loop charges at each iteration; other functions charge
// for their arguments.
func (p *patch) builtin(at *ast.Node, n *ast.BuiltinNode) {
	weight, isLoop := 1, false
	if n.Name == "sortBy" || n.Name == "groupBy" {
		weight = 2 * perEntry
	}
	for _, a := range n.Arguments {
		if body, ok := a.(*ast.PredicateNode); ok {
			isLoop = true
			p.body(&body.Node, weight)
		}
	}
	if n.Map != nil {
		ast.Walk(&n.Map, visit(p.node))
		p.body(&n.Map, weight)
	}
	f := functionOf(n.Name)
	switch {
	case isLoop:
	case f == nil || f.Predicate: // a library function that loops, called without a body, such as count(list)
		for i := range n.Arguments {
			p.charge(2, &n.Arguments[i])
		}
	case n.Name == "len":
		p.charge(1, &n.Arguments[0])
	case n.Name == "first" || n.Name == "last" || n.Name == "get" || n.Name == "type" || allScalar(n.Arguments):
	default:
		p.replace(at, callOf(n.Name), n.Arguments...)
	}
}

func allScalar(nodes []ast.Node) bool {
	for _, n := range nodes {
		if !isScalar(n) {
			return false
		}
	}
	return true
}

// perCall is the number of steps of a meter's own work.
const perCall = 10

// body patches the body of a loop, so that it charges for itself and for its value.
func (p *patch) body(n *ast.Node, weight int) {
	steps := weight * (perCall + weightOfNodes(n))
	p.replace(n, "(step)", *n, &ast.IntegerNode{Value: steps}, &ast.IntegerNode{Value: weight})
}

// replace replaces a node by a call of a meter's function. The environment is the last argument, because some library
// functions leave values on the stack below their result.
func (p *patch) replace(at *ast.Node, function string, arguments ...ast.Node) {
	call := &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: function},
		Arguments: append(slices.Clone(arguments), &ast.IdentifierNode{Value: environmentName}),
	}
	call.SetNature(*(*at).Nature())
	p.inLoop[call] = p.inLoop[*at]
	ast.Patch(at, call)
}

// callOf returns the name of a library function in patched expressions.
func callOf(name string) string { return "(" + name + ")" }

func functionOf(name string) *builtin.Function {
	for _, f := range builtin.Builtins {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// meters returns the functions for patched expressions.
func meters() (all []expr.Option) {
	meterOf := func(p []any) *meter { return &p[len(p)-1].(*environment).meter }
	all = append(all,
		expr.Function("(weigh)", func(p ...any) (any, error) { // value, weight
			meterOf(p).weigh(p[1].(int), p[0])
			return p[0], nil
		}),
		expr.Function("(step)", func(p ...any) (any, error) { // value, steps, weight of the value
			m := meterOf(p)
			m.charge(p[1].(int))
			m.weigh(p[2].(int), p[0])
			return p[0], nil
		}),
	)
	for _, f := range builtin.Builtins {
		if f.Predicate {
			continue
		}
		all = append(all, expr.Function(callOf(f.Name), func(p ...any) (any, error) {
			m, args := meterOf(p), p[:len(p)-1]
			m.weigh(weightOf(f.Name), args...)
			m.growth(f.Name, args)
			return callBuiltin(f, args)
		}))
	}
	return all
}

// callBuiltin calls a function of the library, which has one of three forms.
func callBuiltin(f *builtin.Function, args []any) (any, error) {
	switch {
	case f.Fast != nil:
		return f.Fast(args[0]), nil
	case f.Safe != nil:
		v, _, err := f.Safe(args...)
		return v, err
	}
	return f.Func(args...)
}
