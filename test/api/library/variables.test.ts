import { describe, expect, test } from '@jest/globals';
import { array, assert, constant, constantFrom, dictionary, oneof, property, string, stringMatching } from 'fast-check';
import { expandVariables, variablesIn } from '../../../api/resources/content-templates/variables.ts';
import { withoutOuterBlankLines, withSignature } from '../../../api/resources/signatures/apply-signature.ts';

describe('variables of a template', () => {
  const values = { name: 'Ada', _x: '1', 'a.b-c_9': 'long', braces: '{{name}}', dollar: '$& $1 $$', ['n'.repeat(64)]: 'sixty-four', __proto: 'p' };

  test.each([
    ['{{name}}', 'Ada'],
    ['{{ name }}', 'Ada'],
    ['{{\t name \t}}', 'Ada'],
    ['a{{name}}b{{name}}', 'aAdabAda'],
    ['{{_x}}{{a.b-c_9}}', '1long'],
    [`{{${'n'.repeat(64)}}}`, 'sixty-four'],
    [`{{${'n'.repeat(65)}}}`, `{{${'n'.repeat(65)}}}`],
    ['{{Name}}', '{{Name}}'],
    ['{{ missing }}', '{{ missing }}'],
    ['{{braces}}', '{{name}}'],
    ['{{dollar}}', '$& $1 $$'],
    [String.raw`\{{name}}`, '{{name}}'],
    [String.raw`\{{ anything`, '{{ anything'],
    [String.raw`\\{{name}}`, String.raw`\Ada`],
    [String.raw`\\{{missing}}`, String.raw`\{{missing}}`],
    [String.raw`a\b \\ \n`, String.raw`a\b \\ \n`],
    ['{name} { {name} } {{ }} {{}} {{9a}} {{na me}} {{name} } {{name\n}}', '{name} { {name} } {{ }} {{}} {{9a}} {{na me}} {{name} } {{name\n}}'],
    ['{{{name}}}', '{Ada}'],
    ['{{{{name}}}}', '{{Ada}}'],
    ['{{constructor}} {{toString}}', '{{constructor}} {{toString}}'],
  ])('%j becomes %j', (text, expected) => {
    expect(expandVariables(text, values).text).toBe(expected);
  });

  test('what is used and what is missing is told once each, in order of first use', () => {
    const { used, missing } = expandVariables(String.raw`{{b}} {{a}} {{x}} {{b}} {{x}} \{{c}}`, { a: '1', b: '', c: '3' });
    expect([used, missing]).toEqual([['b', 'a'], ['x']]);
    expect(variablesIn(String.raw`{{b}} {{a}} \{{c}} \\{{d}}`)).toEqual(['b', 'a', 'd']);
  });

  test('a text without braces is unchanged', () => {
    assert(property(string({ unit: 'binary' }).map((text) => text.replaceAll(/[{}]/g, '')), dictionary(string(), string()), (text, given) => {
      expect(expandVariables(text, given)).toEqual({ text, used: [], missing: [] });
    }));
  });

  test('values are put in as they are, whatever they hold, and each name is used or missing', () => {
    const name = stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,10}$/);
    const piece = oneof(name.map((one) => ({ name: one })), stringMatching(/^[^{}\\]{0,8}$/).map((text) => ({ text })));
    assert(property(array(piece), dictionary(name, oneof(string(), constant('{{a}}'))), (pieces, given) => {
      const written = pieces.map((one) => ('name' in one ? `{{ ${one.name} }}` : one.text)).join('');
      const expected = pieces.map((one) => ('text' in one ? one.text : Object.hasOwn(given, one.name) ? given[one.name] : `{{ ${one.name} }}`)).join('');
      const names = [...new Set(pieces.flatMap((one) => ('name' in one ? [one.name] : [])))];
      const expanded = expandVariables(written, given);
      expect(expanded.text).toBe(expected);
      expect(variablesIn(written)).toEqual(names);
      expect([...expanded.used, ...expanded.missing].toSorted()).toEqual(names.toSorted());
    }));
  });

  test('any soup of braces and backslashes ends, and without values only escapes change it', () => {
    assert(property(stringMatching(/^[\\{} \ta_9-]{0,60}$/), (soup) => {
      const { text } = expandVariables(soup, {});
      expect(text.length).toBeLessThanOrEqual(soup.length);
      if (!soup.includes('\\')) expect(text).toBe(soup);
    }));
  });

  test('a long text of open braces and blanks is read in a moment', () => {
    const long = `{{${' '.repeat(50_000)}`.repeat(2) + '{{'.repeat(20_000) + '\\'.repeat(20_000);
    expect(expandVariables(long, { a: 'b' }).text).toBe(long);
  });
});

describe('the signature in a text', () => {
  const append = { content: '-- Ada', position: 'append' } as const;
  const prepend = { content: 'Ada writes:', position: 'prepend' } as const;

  test.each([
    ['Hello', append, 'Hello\n\n-- Ada'],
    ['Hello \n\n', append, 'Hello\n\n-- Ada'],
    ['Hello\n-- Ada', append, 'Hello\n-- Ada'],
    ['Hello\n\n-- Ada \n', append, 'Hello\n\n-- Ada \n'],
    ['Hello', prepend, 'Ada writes:\n\nHello'],
    ['\n  \n  Hello', prepend, 'Ada writes:\n\n  Hello'],
    ['Ada writes:\n\nHello', prepend, 'Ada writes:\n\nHello'],
    ['', append, ''],
    [' \n', prepend, ' \n'],
    ['Hello', null, 'Hello'],
  ])('%j with %j', (text, signature, expected) => {
    expect(withSignature(text, signature)).toBe(expected);
  });

  test('twice is once', () => {
    assert(property(string(), string().map(withoutOuterBlankLines).filter((text) => text.trim() !== ''), constantFrom('append', 'prepend'), (text, content, position) => {
      const once = withSignature(text, { content, position });
      expect(withSignature(once, { content, position })).toBe(once);
    }));
  });

  test('blank lines around it are no part of it', () => {
    expect(withoutOuterBlankLines('\n \n  -- Ada \n line two  \n\n\t\n')).toBe('  -- Ada \n line two  ');
  });
});
