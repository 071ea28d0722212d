package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

// Set is the layer of assignments such as "protocol.rounds=3" and "seats.m.adversary.name=replay", in which m is the id
// of a seat. Values are YAML.
func Set(name string, assignments []string) (Layer, error) {
	tree, err := Assign(name, assignments)
	if err != nil {
		return Layer{}, err
	}
	return Tree(name, tree, "")
}

// Assign returns the decoded YAML of assignments, whose keys need not be those of a council file. Errors begin with
// name.
func Assign(name string, assignments []string) (map[string]any, error) {
	tree := map[string]any{}
	for _, a := range assignments {
		path, text, ok := strings.Cut(a, "=")
		if !ok || path == "" {
			return nil, fmt.Errorf("%s: %q is not key=value (examples: f=1, protocol.rounds=3)", name, a)
		}
		var value any
		if err := param.UnmarshalAny([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("%s: the value of %s cannot be read; it must be YAML, such as 3, text or "+
				"{name: sac}", name, path)
		}
		at := tree
		steps := strings.Split(path, ".")
		for _, step := range steps[:len(steps)-1] {
			next, ok := at[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
		at[steps[len(steps)-1]] = value
	}
	return tree, nil
}

// Tree is the layer of decoded YAML, in which seats may also be keys by their ids, as in Set. dir is the folder that
// paths in it are relative to.
func Tree(name string, tree map[string]any, dir string) (Layer, error) {
	text, err := yaml.Marshal(tree)
	return Layer{Name: name, Text: text, Dir: dir, assigned: true}, err
}

// RosterLayer is a council file that names only the nodes of a roster. An empty key or via leaves its setting out.
func RosterLayer(name, roster, key string, via []string) (Layer, error) {
	return Tree(name, map[string]any{"runner": nodesSection(roster, key, via)}, "")
}

// bySeat returns the layer with a whole list of seats where it assigns to single seats by their ids: the seats so far,
// with these assignments. Earlier assignments of whole lists are in merged.
func (l Layer) bySeat(merged map[string]any, origin Origin) (Layer, error) {
	tree := map[string]any{}
	if !l.assigned || param.UnmarshalAny(l.Text, &tree) != nil {
		return l, nil // Merge returns the error
	}
	given, ok := tree["seats"].(map[string]any)
	if !ok {
		return l, nil
	}
	list, _ := merged["seats"].([]any)
	list = slices.Clone(list)
	for _, id := range slices.Sorted(maps.Keys(given)) {
		keys, ok := given[id].(map[string]any)
		if !ok {
			return l, fmt.Errorf("seats.%s is not a key of a seat (example: seats.%s.adversary.name=replay)", id, id)
		}
		if err := param.Decode(keys, &SeatSpec{}); err != nil {
			return l, errors.New(inSection("seats."+id, err.Error()))
		}
		var at int
		if list, at = single(list, id); at < 0 {
			return l, fmt.Errorf("no seat is called %q%s; there are: %s", id, synod.Hint(id, seatIDs(list)),
				strings.Join(seatIDs(list), ", "))
		}
		seat := maps.Clone(list[at].(map[string]any))
		merge(seat, keys, "", l.Name, Origin{})
		list[at] = seat
	}
	tree["seats"] = list
	text, err := yaml.Marshal(tree)
	l.Text = text
	return l, err
}

// single returns the position of the entry for a seat or, for a, of an entry {id: a, count: 4}. An id such as a2 makes
// single entries of a1 to a4. The position is -1 if there is no such seat.
func single(list []any, id string) ([]any, int) {
	for i, entry := range list {
		seat, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		name := fmt.Sprint(seat["id"])
		if name == id {
			return list, i
		}
		n, err := strconv.Atoi(fmt.Sprint(seat["count"]))
		k, bad := strconv.Atoi(strings.TrimPrefix(id, name))
		if err != nil || bad != nil || !strings.HasPrefix(id, name) || k < 1 || k > n || n > maxChecked {
			continue
		}
		var singles []any
		for j := range n {
			one := maps.Clone(seat)
			one["id"] = name + strconv.Itoa(j+1)
			delete(one, "count")
			singles = append(singles, one)
		}
		return slices.Replace(list, i, i+1, singles...), i + k - 1
	}
	return list, -1
}

func seatIDs(list []any) (ids []string) {
	for _, entry := range list {
		if seat, ok := entry.(map[string]any); ok {
			ids = append(ids, fmt.Sprint(seat["id"]))
		}
	}
	return ids
}
