package compiled

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"synod.dev/synod/llm/structured"
)

// The limits of one expression of x-check. A schema may come from a stranger's request.
const (
	maxExpression = 1000    // bytes
	maxCost       = 100_000 // steps of an evaluation, as CEL counts them
	closeness     = 1e-9    // numbers that differ by less, in proportion to the larger one, are equal
)

// expression is one condition of x-check, in CEL (the Common Expression Language), by Google's library. It is here so
// that programs which only pass schemas on do not link that library. A member of the object is a variable by its name;
// self is the whole value. All numbers are doubles, and two that agree in nine digits are equal, so that
// "net + vat == gross" means what it says of decimal fractions.
type expression struct {
	text    string
	program cel.Program
}

// isVariable matches the names of members that are variables. Others can be reached as self["name"].
var isVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// comparison stands for an operator of CEL.
type comparison struct {
	name string
	of   func(a, b ref.Val) ref.Val
}

var comparisons = map[string]comparison{
	operators.Equals:    {"same", same},
	operators.NotEquals: {"different", func(a, b ref.Val) ref.Val { return not(same(a, b)) }},
	operators.LessEquals: {"atMost", func(a, b ref.Val) ref.Val {
		return or(same(a, b), compared(a, b, types.IntNegOne))
	}},
	operators.GreaterEquals: {"atLeast", func(a, b ref.Val) ref.Val {
		return or(same(a, b), compared(a, b, types.IntOne))
	}},
	operators.Less: {"below", func(a, b ref.Val) ref.Val {
		return and(not(same(a, b)), compared(a, b, types.IntNegOne))
	}},
	operators.Greater: {"above", func(a, b ref.Val) ref.Val {
		return and(not(same(a, b)), compared(a, b, types.IntOne))
	}},
}

func same(a, b ref.Val) ref.Val {
	x, fine := a.(types.Double)
	y, ok := b.(types.Double)
	if !fine || !ok {
		return types.Equal(a, b)
	}
	most := math.Max(math.Abs(float64(x)), math.Abs(float64(y)))
	return types.Bool(x == y || math.Abs(float64(x-y)) <= closeness*most)
}

func not(v ref.Val) ref.Val {
	if b, ok := v.(types.Bool); ok {
		return !b
	}
	return v
}

func or(a, b ref.Val) ref.Val {
	if a == types.True {
		return a
	}
	return b
}

func and(a, b ref.Val) ref.Val {
	if a != types.True {
		return a
	}
	return b
}

// compared reports whether a compares with b as wanted, -1 for less and 1 for greater.
func compared(a, b ref.Val, want types.Int) ref.Val {
	c, ok := a.(interface{ Compare(ref.Val) ref.Val })
	if !ok {
		return types.NewErr("%s has no order", a.Type().TypeName())
	}
	r := c.Compare(b)
	if types.IsUnknownOrError(r) {
		return r
	}
	return types.Bool(r == want)
}

// condition compiles an expression over the members of an object, as package structured asks for it.
func condition(text string, members []string) (structured.Condition, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are allowed", len(text), maxExpression)
	}
	env, err := environment(members)
	if err != nil {
		return nil, err
	}
	tree, issues := env.Parse(text)
	if issues.Err() == nil {
		decimals(tree.NativeRep())
		tree, issues = env.Check(tree)
	}
	if issues.Err() != nil {
		return nil, fmt.Errorf("%s", firstLine(issues.Err().Error()))
	}
	if t := tree.OutputType(); t != cel.BoolType && t != cel.DynType {
		return nil, fmt.Errorf("its result is of type %s, and must be true or false", t)
	}
	p, err := env.Program(tree, cel.CostLimit(maxCost))
	if err != nil {
		return nil, err
	}
	return &expression{text, p}, nil
}

// environment has the variables of an object, and the comparisons.
func environment(members []string) (*cel.Env, error) {
	options := []cel.EnvOption{cel.Variable("self", cel.DynType), cel.ParserRecursionLimit(50)}
	for _, name := range members {
		if isVariable.MatchString(name) && name != "self" {
			options = append(options, cel.Variable(name, cel.DynType))
		}
	}
	for _, c := range comparisons {
		options = append(options, cel.Function(c.name, cel.Overload(c.name+"_any",
			[]*cel.Type{cel.DynType, cel.DynType}, cel.BoolType, cel.BinaryBinding(c.of))))
	}
	return cel.NewEnv(options...)
}

// decimals makes the numbers of an expression doubles, as those of values are, and takes our comparisons.
func decimals(tree *ast.AST) {
	factory, id := ast.NewExprFactory(), ast.MaxID(tree)
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.LiteralKind:
			if n, ok := e.AsLiteral().(types.Int); ok {
				e.SetKindCase(factory.NewLiteral(e.ID(), types.Double(n)))
			}
		case ast.CallKind:
			call := e.AsCall()
			if c, ok := comparisons[call.FunctionName()]; ok {
				e.SetKindCase(factory.NewCall(e.ID(), c.name, call.Args()...))
			}
			if call.FunctionName() != "size" {
				return
			}
			id++
			inner := factory.NewCall(id, "size", call.Args()...)
			if call.IsMemberFunction() {
				inner = factory.NewMemberCall(id, "size", call.Target(), call.Args()...)
			}
			e.SetKindCase(factory.NewCall(e.ID(), "double", inner))
		}
	}))
}

// short is a text for an error.
func short(s string) string { return s[:min(len(s), 80)] }

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(s, "ERROR: <input>:"), "\n")
	return line
}

// Fault returns why a value does not meet the condition; "" if it does. A condition that cannot be evaluated, for
// example because a member is absent or because it takes too many steps, is not met.
func (x *expression) Fault(v *structured.Value) string {
	variables := map[string]any{"self": native(v)}
	for _, m := range v.Members() {
		if m.Key != "self" {
			variables[m.Key] = native(m.Value)
		}
	}
	got, _, err := x.program.Eval(variables)
	switch {
	case tooCostly(err):
		return fmt.Sprintf("%s %d steps of x-check %q", TooCostly, maxCost, short(x.text))
	case err != nil:
		return fmt.Sprintf("does not meet x-check %q: %s", short(x.text), short(firstLine(err.Error())))
	case got != types.True:
		return fmt.Sprintf("does not meet x-check %q", short(x.text))
	}
	return ""
}

// TooCostly begins the fault of a value for which an evaluation took too many steps: whether it meets the condition is
// not known.
const TooCostly = "cannot be checked within"

// tooCostly reports whether an evaluation was ended because it took too many steps.
func tooCostly(err error) bool {
	ended := interpreter.EvalCancelledError{}
	return errors.As(err, &ended) && ended.Cause == interpreter.CostLimitExceeded
}

// native is a value for CEL.
func native(v *structured.Value) any {
	switch v.Kind() {
	case structured.Number:
		f, _ := strconv.ParseFloat(v.String(), 64)
		return f
	case structured.String:
		return v.Text()
	case structured.Boolean:
		return v.String() == "true"
	case structured.Array:
		all := make([]any, len(v.Items()))
		for i, x := range v.Items() {
			all[i] = native(x)
		}
		return all
	case structured.Object:
		all := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			all[m.Key] = native(m.Value)
		}
		return all
	}
	return nil
}
