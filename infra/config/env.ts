/** Reads names from the environment and nothing more. Each reader collects its complaint, so that all faults are reported together. */
export class EnvReader {
  readonly faults: string[] = [];
  readonly #source: NodeJS.ProcessEnv;

  constructor(source: NodeJS.ProcessEnv) {
    this.#source = source;
  }

  string(name: string): string | null;
  string(name: string, fallback: string): string;
  string(name: string, fallback: string | null = null): string | null {
    const value = this.#source[name];
    return value === undefined || value === '' ? fallback : value;
  }

  required(name: string): string {
    const value = this.string(name);
    if (value === null) this.faults.push(`${name} is required`);
    return value ?? '';
  }

  integer(name: string, fallback: number, range: { min?: number; max?: number } = {}): number {
    const text = this.string(name);
    if (text === null) return fallback;
    const value = Number(text);
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = range;
    if (!Number.isInteger(value) || value < min || value > max) {
      this.faults.push(`${name} must be an integer from ${min} to ${max}, not "${text}"`);
      return fallback;
    }
    return value;
  }

  boolean(name: string, fallback: boolean): boolean {
    const text = this.string(name);
    if (text === null) return fallback;
    if (text !== 'true' && text !== 'false') this.faults.push(`${name} must be true or false, not "${text}"`);
    return text === 'true';
  }

  list(name: string): string[] {
    return (this.string(name) ?? '').split(',').map((item) => item.trim()).filter((item) => item !== '');
  }

  url(name: string, fallback: string): string {
    const text = this.string(name, fallback);
    if (!URL.canParse(text)) this.faults.push(`${name} must be a URL`);
    return text.replace(/\/+$/, '');
  }
}
