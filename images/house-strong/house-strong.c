/*
 * Rule: play INFO rule 0 (five or more wins) and 1 (exactly five wins), and no swaps.
 */
#include "../house-gomocup/gomocup.h"

static const int RULES[] = {0, 1};
static const struct brain STRONG = {
    .about = "name=\"house-strong\", version=\"1.0\", author=\"judge\"",
    .rules = RULES,
    .rule_count = 2,
    .refusal = "ERROR only rules 0 and 1 are supported",
};

int main(void)
{
    return gomocup_serve(&STRONG);
}
