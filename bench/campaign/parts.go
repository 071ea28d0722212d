package campaign

import (
	"encoding"
	"reflect"
	"unsafe"
)

// Messages are taken apart by reflection: an adversary that knows a protocol knows the types of its messages, and a new
// protocol needs no code for that.

// part is what parts must have in common so that one can stand in the place of another: their type and, for numbers,
// texts and bytes, the name of the field as well.
type part struct {
	of    reflect.Type
	field string
}

// partOf returns what a value in a field can be exchanged for.
func partOf(v reflect.Value, field string) part {
	if isLeaf(v) {
		return part{v.Type(), field}
	}
	return part{of: v.Type()}
}

// isLeaf reports whether a value has no parts.
func isLeaf(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct, reflect.Pointer:
		return false
	case reflect.Slice, reflect.Array:
		return v.Type().Elem().Kind() == reflect.Uint8
	}
	return true
}

// walk visits a value and all its parts, the outer ones first.
func walk(v reflect.Value, field string, visit func(v reflect.Value, field string)) {
	v = settable(v)
	visit(v, field)
	switch {
	case isLeaf(v) || v.Kind() == reflect.Pointer && v.IsNil():
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), v.Type().Field(i).Name, visit)
		}
	case v.Kind() == reflect.Pointer:
		walk(v.Elem(), field, visit)
	default:
		for i := range v.Len() {
			walk(v.Index(i), field, visit)
		}
	}
}

// settable returns an addressable value so that it can be set: fields of messages are not exported.
func settable(v reflect.Value) reflect.Value {
	if v.CanSet() || !v.CanAddr() {
		return v
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// cloned returns a copy of a value that shares nothing with it which is changed.
func cloned(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	switch {
	case isLeaf(v) || v.Kind() == reflect.Pointer && v.IsNil():
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			settable(to.Field(i)).Set(cloned(settable(v.Field(i))))
		}
	case v.Kind() == reflect.Pointer:
		to.Set(reflect.New(v.Type().Elem()))
		to.Elem().Set(cloned(v.Elem()))
	case v.Kind() == reflect.Slice && v.Len() > 0:
		to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			to.Index(i).Set(cloned(v.Index(i)))
		}
	}
	return to
}

// bytesIn returns the bytes of a text or of bytes; nil if the value is neither.
func bytesIn(v reflect.Value) []byte {
	switch {
	case v.Kind() == reflect.String:
		return []byte(v.String())
	case v.Kind() == reflect.Slice && isLeaf(v):
		return v.Bytes()
	}
	return nil
}

// setBytes sets a text or bytes.
func setBytes(v reflect.Value, b []byte) {
	if v.Kind() == reflect.String {
		v.SetString(string(b))
	} else {
		v.SetBytes(b)
	}
}

// parsed returns the message of a body; a body that has no type or cannot be read is itself the message.
func parsed(t reflect.Type, body []byte) reflect.Value {
	if t != nil {
		v := reflect.New(t)
		m, ok := v.Interface().(encoding.BinaryUnmarshaler)
		if ok && m.UnmarshalBinary(append([]byte(nil), body...)) == nil {
			return v.Elem()
		}
	}
	v := reflect.New(reflect.TypeFor[[]byte]()).Elem()
	v.SetBytes(append([]byte(nil), body...))
	return v
}

// written returns the body of a message, and whether a member can read it.
func written(v reflect.Value) (body []byte, readable bool) {
	if b, raw := v.Interface().([]byte); raw {
		return b, true
	}
	m, ok := v.Addr().Interface().(encoding.BinaryAppender)
	if !ok {
		return nil, false
	}
	body, err := m.AppendBinary(nil)
	if err != nil {
		return nil, false
	}
	again, ok := reflect.New(v.Type()).Interface().(encoding.BinaryUnmarshaler)
	return body, ok && again.UnmarshalBinary(body) == nil
}
