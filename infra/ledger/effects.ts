import type { StepEffect } from '../contract/statuses.ts';

export function isPublic(effect: StepEffect): boolean {
  return effect === 'public_keyed' || effect === 'public_unkeyed';
}
