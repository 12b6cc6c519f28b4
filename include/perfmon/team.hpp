// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Teams in C++ (perfmon/team.h has the rules): what a thread does for another stands below the
// regions of that one.
//
//	perfmon::token solve = perfmon::here();
//	std::thread worker([solve] {
//		perfmon::adoption in(solve);
//		PERFMON_SCOPE("part");
//	});
#ifndef PERFMON_TEAM_HPP
#define PERFMON_TEAM_HPP

#include <cerrno>
#include <perfmon/error.hpp>
#include <perfmon/team.h>

namespace perfmon
{

// A path of this process. It can be copied and handed to other threads, and needs no end. One
// that no here() made is no path, and what adopts it continues at the top.
class token
{
      public:
	token() noexcept : token_()
	{
	}
	// The path as the C interface has it.
	const perfmon_token &get() const noexcept
	{
		return token_;
	}
	explicit operator bool() const noexcept
	{
		return token_.path != 0;
	}

      private:
	friend token here(std::error_code &) noexcept;
	perfmon_token token_;
};

// The path of the calling thread: its innermost open visit, or the path that it has adopted.
// Fails as perfmon_region_token(), with no path.
inline token here(std::error_code &failed) noexcept
{
	token at;

	failed = code_of(perfmon_region_token(&at.token_));
	return at;
}
inline token here()
{
	std::error_code failed;
	token at = here(failed);

	if (failed)
		fail(-failed.value(),
		     "no token of this thread's path: " + failed.message());
	return at;
}

// The calling thread is in the path of a token from the construction of this object to its end.
// The second form of the constructor sets a code where perfmon_region_adopt() fails; then the
// thread stays where it is. Adoptions nest, and end in the reverse order, on their thread.
class PERFMON_NODISCARD_ adoption
{
      public:
	PERFMON_NODISCARD_ explicit adoption(const token &at)
	    : adopted_(perfmon_region_adopt(&at.get()))
	{
		if (adopted_ == -ESTALE)
			fail(adopted_, "the token is of another process, or of none");
		if (adopted_ < 0)
			fail(adopted_, "the path of a token cannot be adopted: " +
					       code_of(adopted_).message());
	}
	PERFMON_NODISCARD_ adoption(const token &at, std::error_code &failed) noexcept
	    : adopted_(perfmon_region_adopt(&at.get()))
	{
		failed = code_of(adopted_);
	}
	~adoption()
	{
		if (adopted_ >= 0)
			perfmon_region_leave();
	}
	adoption(const adoption &) = delete;
	adoption &operator=(const adoption &) = delete;

      private:
	int adopted_;
};

} // namespace perfmon

#endif
