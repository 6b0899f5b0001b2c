/** A line of output with what a reader has to make of it: `y` an event, `n` none, `i` either, as long as nothing breaks. Families as in the public suites of JSON parsers. */
export type HostileLine = { readonly name: string; readonly expect: 'y' | 'n' | 'i'; readonly bytes: Buffer }

/** Values that JSON allows. */
const VALID: { readonly [family: string]: readonly string[] } = {
  number: ['0', '-0', '1', '-1', '123', '1.5', '-1.5', '0e1', '0e+1', '1e2', '1E2', '1E+2', '1E-2', '1e-2', '123e45', '123.456e78', '-123.123', '123.456789', '-0.000000000000000000000000000000000000000001', '1E22', '0.1', '20e1', '9007199254740991'],
  string: [
    '""', '"a"', '" "', '"asd "', '"\\""', '"\\\\"', '"\\/"', '"\\b\\f\\n\\r\\t"', '"\\u0000"', '"\\u0012"', '"\\u0022"', '"\\u005C"', '"\\u002c"', '"\\u0821"', '"\\u0123"', '"\\uD834\\uDd1e"', '"\\uDBFF\\uDFFF"', '"\\uFFFF"', '"\\u200B"', '"\\u2064"', '"\\uFDD0"', '"\\uA66D"',
    '"\u2028"', '"\u2029"', '"€𝄞"', '"π"', '"\u007f"', '"asd\u007fgh"', '"\u{10ffff}"', '"￿"', '"⍂㈴⍂"', '"new\\u000Aline"', '"\\u0061\\u30af\\u30EA\\u30b9"', '"a/*b*/c/*d//e"', '"\\\\a"', '"\\\\n"', '"{\\"type\\":\\"runner_end\\"}"', '"[1,2"', '"\\ud83d\\ude39\\ud83d\\udc8d"',
  ],
  literal: ['true', 'false', 'null'],
  array: ['[]', '[ ]', '[null]', '[1 ]', '[ 1]', '[""]', '["a"]', '[[]   ]', '[false]', '[null, 1, "1", {}]', '[1,null,null,null,2]', '[2] ', '[[[[[[]]]]]]', '[\t1,\r2]'],
  object: ['{}', '{ }', '{"a":[]}', '{"":0}', '{"a":"b","c":"d"}', '{"a":"b","a":"c"}', '{"a":"b","a":"b"}', '{"foo\\u0000bar": 42}', '{ "min": -1.0e+28, "max": 1.0e+28 }', '{"x":[{"id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}], "id": "x"}', '{"title":"\\u041f\\u043e"}', '{"constructor":{"prototype":1}}', '{"toString":1}', '{"__proto__":{"polluted":true}}', '{"hasOwnProperty":null}', '{"toJSON":"x"}'],
}

/** What looks like a value and is none. */
const INVALID: { readonly [family: string]: readonly string[] } = {
  number: [
    '-01', '-1.0.', '-2.', '-NaN', '.-1', '.2e-3', '0.1.2', '0.3e+', '0.3e', '0.e1', '0E+', '0E', '0e+', '0e', '1 000.0', '1.0e+', '1.0e-', '1.0e', '1eE2', '2.e+3', '2.e-3', '2.e3', '9.e+', 'Inf', 'NaN', 'Infinity', '-Infinity', '+1', '+Inf', '++1234', '0x1', '0x42', '1+2', '-', '-foo', '- 1', '-012', '-.123', '-1x',
    '1ea', '1.', '1.2a-3', '1.8011670033376514H-308', '012', '.123', '1e1e1', '１', '1_000', '0b1', '0o7', '1n', '١',
  ],
  string: ["'single'", '"\\x00"', '"\\u00A"', '"\\uD834\\uDd"', '"\\uqqqq"', '"\\u"', '"\\u1"', '"\\uD800\\u"', '"\\uD800\\u1"', '"\\uD800\\u1x"', '"\\"', '"\\\\\\"', '"\\a"', '"\\🌀"', '"\\\t"', '"\t"', '"a\u0000a"', '"\u001f"', '"\u0008"', 'abc', '"', '"asd', '"\\{["\\{["', 'é', '\\u0020"asd"', '"\\8"', '"\\0"', '`a`', '“a”', '"a" "b"', '"a" + "b"', '"\\u00zz"'],
  literal: ['nul', 'tru', 'fals', 'True', 'FALSE', 'NULL', 'undefined', 'truth', 'nil', 'None', 'truefalse', 'TRUE'],
  array: ['[1 true]', '[1,', '[1,]', '[1,,]', '[,1]', '["",]', '[x', '[3[4]]', '[a', '[1:2]', '["x", truth]', '[', '[""', '["a', '["": 1]', '[1,,2]', '[   , ""]', '[-]', '[1,1', '[1},', '[1]]', '[*]', '[{}', '[<null>]', '[1 2]', '[#]', '[...a]', '(1)', '[1;2]', '[/a/]'],
  object: [
    '{"a":', '{"a"', '{"a" b}', '{"a":b}', '{"a":1,}', '{"a":1,,"b":2}', '{:"b"}', '{"a":"a" 123}', '{key: "value"}', '{"a":"b"}/**/', '{"a":"b"}#', '{"a":"b"}//', '{1:1}', '{9999E9999:1}', '{null:null,null:null}', '{"id":0,,,,,}', "{'a':0}", '{"a":/*comment*/"b"}', '{"x"::"b"}', '{"a":"b",,"c":"d"}', '{"a" "b"}', '{[: "x"}', '{"x", null}', '{"a":1 "b":2}', '{ "foo" : "bar", "a" }', '{"a":"b"}}', '{🇨🇭}', '{a:1}', '{"a":undefined}', '{"a":1;}', '{"a"=1}', '{"a":[}', '{"a":{}', '{,}', '{"a":(1)}',
  ],
}

/** Whole lines that are no event, whatever is in them. */
const NO_EVENTS: readonly string[] = [
  '', ' ', '\t', '\r', '\u0000', '\u000b', '\u00a0', '\u2060', '\u0085', '1', '-1', '42', '0.5', '"text"', '"start"', 'null', 'true', 'false', '[]', '[{"type":"log"}]', '["type","log"]', '{}', '{"a":1}', '{"type":null}', '{"type":1}', '{"type":true}', '{"type":["log"]}', '{"type":{"log":1}}', '{"type":""}', '{"type":"Log"}', '{"type":" log"}', '{"type":"log "}', '{"type":"nosuch"}', '{"type":"__proto__"}', '{"type":"constructor"}', '{"type":"toString"}',
  '{"Type":"log"}', '{"type":"runner_start"}', '{"type":"runner_log"}', '{"type":"diagnostic"}', '{"type":"runner_warning"}', '{"type":"runner_error"}', '{"type":"runner_end","state":"completed"}', '{"type":"log","type":"runner_end"}', '{"type":"runner\\u005fend"}', '{"type":"task_done"}', '{"type":"task_submitted"}', '{"type":"log","run_id":"r-other"}', '{"type":"log","run_id":null}', '{"type":"log","run_id":""}', '{"type":"log","run_id":["r-0000000000"]}', '{"type":"log","v":2}', '{"type":"log","v":"1"}',
  '{"__proto__":{"type":"log"}}', '{"type":"log"}{"type":"log"}', '{"type":"log"},{"type":"log"}', '{"type":"log"};', '({"type":"log"})', ';{"type":"log"}', '>{"type":"log"}', 'data: {"type":"log"}', '<?xml version="1.0"?>', '<.>', '*', '#', '//', '/**/', ']', '}', '[{', ',', ':', '{"type":"log"', '"type":"log"}', '{"type":"log}', "{'type':'log'}", '{"type":"log",}', '{"type":"log"}]', '\ufeff', '\ufeff{"type":"log"}', '{"type":"log"}\u0000', '\u0000{"type":"log"}', '\u001b[31m{"type":"log"}', '{"type":"log"}\u001b[0m', '\u2028{"type":"log"}', '\ufffe{"type":"log"}',
]

/** Bytes that are no UTF-8. */
const BROKEN: readonly (readonly number[])[] = [[0xff], [0xfe], [0x80], [0xbf], [0xc0, 0xaf], [0xc3], [0xc3, 0x28], [0xe2, 0x82], [0xe2, 0x28, 0xa1], [0xed, 0xa0, 0x80], [0xed, 0xb0, 0x80], [0xf0, 0x9f, 0x98], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xfc, 0x83, 0xbf, 0xbf, 0xbf, 0xbf], [0xe0, 0x80, 0xaf], [0xe9]]

/** What parsers may take or leave. */
const EITHER: readonly string[] = ['123123e100000', '-1e+9999', '1.5e+9999', '-123123e100000', '0.4e00669999999999999999999999999999999999999999999999999999999999999999999999969999999006', '123.456e-789', '100000000000000000000', '-123123123123123123123123123123', '"\\uDADA"', '"\\ud800"', '"\\uDd1e\\uD834"', '"\\uD888\\u1234"', '"\\uDFAA"', '"\\ud800abc"', '"\\uD800\\uD800\\n"', `${'['.repeat(60)}${']'.repeat(60)}`]

const event = (value: string): string => `{"type":"log","value":${value}}`

/** Every line of the families: values inside an event, whole lines, broken bytes, nests and lengths. */
export function hostileJson(): readonly HostileLine[] {
  const text = (name: string, expect: HostileLine['expect'], line: string): HostileLine => ({ name: `${expect}_${name}`, expect, bytes: Buffer.from(line) })
  const spread = (families: { readonly [family: string]: readonly string[] }, expect: HostileLine['expect']): HostileLine[] =>
    Object.entries(families).flatMap(([family, values]) => values.map((value, index) => text(`${family}_${index}`, expect, event(value))))
  return [
    ...spread(VALID, 'y'),
    ...['{"type":"log"}', ' {"type":"log"}', '{"type":"log"} ', '\t{ "type" : "log" }\r', '{"type":"log"}\r', '{"type":"runner_end","type":"log"}', '{"\\u0074ype":"log"}', '{"type":"l\\u006fg"}', '{"type":"log","v":1,"run_id":"r-0000000000"}'].map((line, index) => text(`whole_${index}`, 'y', line)),
    ...spread(INVALID, 'n'),
    ...NO_EVENTS.map((line, index) => text(`whole_${index}`, 'n', line)),
    ...BROKEN.map((bytes, index): HostileLine => ({ name: `n_utf8_${index}`, expect: 'n', bytes: Buffer.concat([Buffer.from('{"type":"log","value":"'), Buffer.from(bytes), Buffer.from('"}')]) })),
    ...EITHER.map((value, index) => text(`either_${index}`, 'i', event(value))),
    ...[1000, 100_000].flatMap((depth) => [text(`deep_array_${depth}`, 'n', event(`${'['.repeat(depth)}${']'.repeat(depth)}`)), text(`deep_object_${depth}`, 'n', event(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)), text(`open_array_${depth}`, 'n', '['.repeat(depth)), text(`open_object_${depth}`, 'n', '[{"":'.repeat(depth))]),
    text('long_number', 'y', event(`1${'0'.repeat(100)}`)), text('long_string', 'y', event(`"${'x'.repeat(1_000_000)}"`)), text('too_long', 'n', event(`"${'x'.repeat(1_100_000)}"`)), text('utf16', 'n', Buffer.from('{"type":"log"}', 'utf16le').toString('latin1').replaceAll('\n', '')),
  ]
}
